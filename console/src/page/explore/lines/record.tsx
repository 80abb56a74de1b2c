import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { formatJson } from '../../../api/answer.ts';
import { showText } from '../../../format/log-text.ts';
import { formatCount } from '../../../format/number.ts';
import { fromMicros } from '../../../format/time.ts';
import { CopyButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Menu, type MenuItem } from '../../../ui/overlay/menu.tsx';
import { Segmented } from '../../../ui/tabs.tsx';
import {
  ATTRIBUTES_MAX,
  type Attribute,
  attributesOf,
  exclude,
  formatValue,
  type Line,
  termOf,
} from './line.ts';

/** What can be done with a line and its values. */
export interface LineActions {
  readonly columns: readonly string[];
  readonly onFilter: (term: string) => void;
  readonly onColumn: (field: string) => void;
  /** The path of the page that shows a line among those around it. */
  readonly pathAround: (line: Line) => string;
  /** Called before that page is opened. */
  readonly onAround: (line: Line) => void;
  /** The path of the page with all events of the trace that a field of a line names; undefined if it names none. */
  readonly pathOfTrace: (line: Line, field: string) => string | undefined;
  /** Pages elsewhere about a value of a line. */
  readonly linksOf: (line: Line, field: string) => readonly LinesLink[];
}

export interface LinesLink {
  readonly label: string;
  readonly url: string;
}

interface RecordProps extends LineActions {
  readonly id: string;
  readonly line: Line;
}

const VIEWS = [
  { id: 'fields', label: 'Fields' },
  { id: 'json', label: 'JSON' },
] as const;

/** Everything of a line; each value has a menu. */
export function Record({ id, line, ...actions }: RecordProps) {
  const [view, setView] = useState<'fields' | 'json'>('fields');
  const around = actions.pathAround(line);
  return (
    <div className="record" id={id}>
      <div className="record-bar">
        <Segmented label="Show the event as" options={VIEWS} selected={view} onSelect={setView} />
        <Link href={around} className="button is-quiet" onClick={() => actions.onAround(line)}>
          Around this line
        </Link>
        <CopyButton text={`${location.origin}${around}`} label="Copy link to this line" />
        <CopyButton text={formatJson(line.row)} label="Copy JSON" />
      </div>
      {view === 'json' ? (
        <Code text={formatJson(line.row)} label="The event as JSON" />
      ) : (
        <Fields line={line} {...actions} />
      )}
    </div>
  );
}

interface Chosen extends Attribute {
  readonly anchor: HTMLElement;
}

function Fields({ line, ...actions }: LineActions & { readonly line: Line }) {
  const [chosen, setChosen] = useState<Chosen>();
  const [, navigate] = useLocation();
  const attributes = useMemo(() => toAttributes(line), [line]);
  const shown = attributes.slice(0, ATTRIBUTES_MAX);
  return (
    <>
      <dl className="record-fields" aria-label="Fields">
        {shown.map(({ field, value }) => (
          <div key={field}>
            <dt>{showText(field)}</dt>
            <dd>
              <button
                type="button"
                className={`record-value is-${kindOf(value)}`}
                aria-haspopup="menu"
                onClick={({ currentTarget }) => setChosen({ field, value, anchor: currentTarget })}
              >
                {showText(toText(field, value)) || '""'}
              </button>
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < attributes.length && (
        <p className="small muted">The first {formatCount(shown.length)} fields; JSON has all.</p>
      )}
      {chosen !== undefined && (
        <Menu
          label={chosen.field}
          anchor={chosen.anchor}
          items={itemsOf(line, chosen, { ...actions, onGo: navigate })}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

function toAttributes(line: Line): Attribute[] {
  const { metadata, ...row } = line.row;
  const columns = Object.entries(row).map(([field, value]) => ({ field, value }));
  return [...columns, ...attributesOf(metadata)];
}

interface ItemActions extends LineActions {
  readonly onGo: (path: string) => void;
}

function itemsOf(line: Line, { field, value }: Attribute, actions: ItemActions): MenuItem[] {
  const { columns, onFilter, onColumn, onGo, linksOf, pathOfTrace } = actions;
  const trace = pathOfTrace(line, field);
  const term = termOf(field, value);
  const isWhole = typeof value === 'object' && value !== null;
  return [
    ...(field === 'timestamp'
      ? []
      : [
          { label: isWhole ? 'Filter for events with it' : 'Filter for', onSelect: () => onFilter(term) },
          { label: 'Exclude', onSelect: () => onFilter(exclude(term)) },
        ]),
    ...(SHOWN.includes(field)
      ? []
      : [
          {
            label: columns.includes(field) ? 'Remove column' : 'Add as column',
            onSelect: () => onColumn(field),
          },
        ]),
    ...(trace === undefined ? [] : [{ label: 'All events of this trace', onSelect: () => onGo(trace) }]),
    ...linksOf(line, field).map(({ label, url }) => ({
      label: `${label} ↗`,
      onSelect: () => void open(url, '_blank', 'noopener,noreferrer'),
    })),
    { label: 'Copy', onSelect: () => void navigator.clipboard.writeText(toText(field, value)) },
  ];
}

/** Columns that each line has. */
const SHOWN = ['timestamp', 'source', 'level', 'event_message'];

function toText(field: string, value: unknown): string {
  return field === 'timestamp' ? fromMicros(Number(value)) : formatValue(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
