import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { SearchSource } from '../../../../../src/management/view.ts';
import { formatJson } from '../../../api/answer.ts';
import { formatTerm } from '../../../format/search-text.ts';
import { formatCount, fromMicros, showText } from '../../../format/show.ts';
import { Code } from '../../../ui/code.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { CopyButton, Segmented } from '../../../ui/page-part.tsx';
import { type ExploreAddress, explorePath } from '../address.ts';
import { useExploring } from '../exploring.ts';
import { toRange } from '../search.ts';
import {
  ATTRIBUTES_MAX,
  type Attribute,
  attributesOf,
  exclude,
  formatAt,
  formatValue,
  type Line,
  termOf,
  valueAt,
} from './line.ts';

interface RecordProps {
  readonly id: string;
  readonly line: Line;
}

const VIEWS = { fields: 'Fields', json: 'JSON' } as const;

export function Record({ id, line }: RecordProps) {
  const { address } = useExploring();
  const [, navigate] = useLocation();
  const [view, setView] = useState<'fields' | 'json'>('fields');
  const around = pathAround(address, line);
  // The way back leads to the line.
  const onAround = () => navigate(explorePath({ ...address, at: formatAt(line) }), { replace: true });
  return (
    <div className="record" id={id}>
      <div className="row record-bar">
        <Segmented label="Show the event as" options={VIEWS} selected={view} onSelect={setView} />
        <Link href={around} className="button is-quiet" onClick={onAround}>
          Around this line
        </Link>
        <CopyButton text={`${location.origin}${around}`} label="Copy link to this line" />
        <CopyButton text={formatJson(line.row)} label="Copy JSON" />
      </div>
      {view === 'json' ? (
        <Code text={formatJson(line.row)} label="The event as JSON" />
      ) : (
        <Fields line={line} />
      )}
    </div>
  );
}

interface Chosen extends Attribute {
  readonly anchor: HTMLElement;
}

function Fields({ line }: Pick<RecordProps, 'line'>) {
  const [chosen, setChosen] = useState<Chosen>();
  const attributes = useMemo((): Attribute[] => {
    const { metadata, ...row } = line.row;
    const columns = Object.entries(row).map(([field, value]) => ({ field, value }));
    return [...columns, ...attributesOf(metadata)];
  }, [line]);
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
      {chosen !== undefined && <ValueMenu {...{ line, chosen }} onClose={() => setChosen(undefined)} />}
    </>
  );
}

function ValueMenu(props: Readonly<{ line: Line; chosen: Chosen; onClose: () => void }>) {
  const { line, chosen, onClose } = props;
  const { field, value, anchor } = chosen;
  const { address, filter, toggleColumn, sources } = useExploring();
  const [, navigate] = useLocation();
  const trace = pathOfTrace(address, line, field);
  const term = termOf(field, value);
  const isWhole = typeof value === 'object' && value !== null;
  const filters = [
    { label: isWhole ? 'Filter for events with it' : 'Filter for', onSelect: () => filter(term) },
    { label: 'Exclude', onSelect: () => filter(exclude(term)) },
  ];
  const column = address.columns.includes(field) ? 'Remove column' : 'Add as column';
  const items = [
    ...(field === 'timestamp' ? [] : filters),
    ...(SHOWN.includes(field) ? [] : [{ label: column, onSelect: () => toggleColumn(field) }]),
    ...(trace === undefined ? [] : [{ label: 'All events of this trace', onSelect: () => navigate(trace) }]),
    ...linksOf(sources, line, field).map(({ label, url }) => ({
      label: `${label} ↗`,
      onSelect: () => void open(url, '_blank', 'noopener,noreferrer'),
    })),
    { label: 'Copy', onSelect: () => void navigator.clipboard.writeText(toText(field, value)) },
  ];
  return <Menu label={field} {...{ anchor, items, onClose }} />;
}

const SHOWN = ['timestamp', 'source', 'level', 'event_message'];

function toText(field: string, value: unknown): string {
  return field === 'timestamp' ? fromMicros(Number(value)) : formatValue(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

const AROUND_MS = 2 * 60_000;

/** The path that shows the events around a line, for any search. */
export function pathAround(address: ExploreAddress, line: Line): string {
  return explorePath({
    ...address,
    range: around(line, AROUND_MS),
    ...{ q: '', project: line.project, live: false, view: 'lines', at: formatAt(line) },
  });
}

const TRACE_MS = 15 * 60_000;

/** The path that shows the events with the same trace as a line, from every source, in the order of time. */
function pathOfTrace(address: ExploreAddress, line: Line, field: string): string | undefined {
  const value = valueAt(line, field);
  const isTrace = NAMES.some((name) => field === name || field.endsWith(`.${name}`));
  if (!isTrace || typeof value !== 'string' || value === '') return undefined;
  // Whichever name their source gives it.
  const terms = [...new Set([toPath(field), ...NAMES])].map((name) => formatTerm(name, value));
  const shown = { q: `(${terms.join(' or ')})`, project: address.project, view: 'timeline' as const };
  return explorePath({ ...shown, range: around(line, TRACE_MS) });
}

function around({ micros }: Line, halfMs: number) {
  const ms = Math.floor(micros / 1000);
  return toRange(ms - halfMs, ms + halfMs);
}

/** Names under which senders write the id of a trace. */
const NAMES = ['trace_id', 'traceId', 'trace.id', 'traceID'];

/** A search may name a path of the metadata with `metadata.` before it, or without. */
function toPath(field: string): string {
  return field.replace(/^metadata\./, '');
}

/** The pages elsewhere that a line's source has about a value. */
function linksOf(sources: readonly SearchSource[], line: Line, field: string) {
  const links = sources.find(({ name }) => name === line.source)?.links ?? [];
  return links
    .filter((link) => toPath(link.field) === toPath(field))
    .flatMap(({ label, url }) => {
      const filled = fillLink(url, (name) =>
        formatValue(valueAt(line, name === 'value' ? field : name) ?? ''),
      );
      return filled === undefined ? [] : [{ label, url: filled }];
    });
}

/** The address of a link (docs/sources.md): each `{…}` is replaced by its text, encoded; undefined if one is empty. */
function fillLink(url: string, textOf: (field: string) => string): string | undefined {
  let isWhole = true;
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_whole, field: string) => {
    const value = textOf(field);
    isWhole &&= value !== '';
    return encodeURIComponent(value.toWellFormed());
  });
  return isWhole ? filled : undefined;
}
