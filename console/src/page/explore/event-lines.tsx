import { type ReactNode, Suspense, useMemo } from 'react';
import { useLocation } from 'wouter';
import type { SearchSource } from '../../../../src/management/view.ts';
import { describeRange, lastMs } from '../../format/range.ts';
import { useZone } from '../../preference.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { QuietButton } from '../../ui/button.tsx';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { type ExploreAddress, explorePath } from './address.ts';
import { formatAt, formatValue, type Line, toggleColumn, valueAt } from './lines/line.ts';
import { LinesPanel } from './lines/lines-panel.tsx';
import type { LinesLink } from './lines/record.tsx';
import type { Lines } from './lines/use-lines.ts';
import { pathAround, pathOfTrace } from './paths.ts';
import { faultOf, rangeOf } from './search/search.ts';
import type { useExplore } from './use-explore.ts';
import type { Fields } from './use-fields.ts';

interface EventLinesProps {
  readonly address: ExploreAddress;
  readonly explored: ReturnType<typeof useExplore>;
  readonly fields: Fields;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly onFilter: (term: string) => void;
}

/** The lines of a search, with its fields. */
export function EventLines({ address, explored, fields, onChange, onFilter }: EventLinesProps) {
  const { columns, live, oldestFirst, at } = address;
  const { search, source, lines } = explored;
  const [, navigate] = useLocation();
  const linksOf = useMemo(() => createLinksOf(fields.sources), [fields.sources]);
  const ofFields = {
    columns,
    fields: fields.fields,
    valuesOf: fields.valuesOf,
    onFilter,
    onBy: (by: string) => onChange({ by }),
    onColumn: (field: string) => onChange({ columns: toggleColumn(columns, field) }),
  };
  return (
    <LinesPanel
      {...{ source, lines, live, oldestFirst, at, linksOf }}
      {...{ columns, onFilter }}
      onColumn={ofFields.onColumn}
      none={<NoLines address={address} lines={lines} onChange={onChange} />}
      onLive={(next) => onChange({ live: next, ...(next && toNow(address)) })}
      onOldestFirst={(next) => onChange({ oldestFirst: next })}
      onNewest={() => onChange({ at: '' })}
      pathAround={(line) => pathAround(address, line)}
      // The way back leads to the line.
      onAround={(line) => navigate(explorePath({ ...address, at: formatAt(line) }), { replace: true })}
      pathOfTrace={(line, field) => pathOfTrace(address, line, field)}
      fieldList={
        <Suspense fallback={<p className="field-list muted">Loading…</p>}>
          <FieldList search={search} {...ofFields} />
        </Suspense>
      }
    />
  );
}

/** A live list ends now. */
function toNow({ range }: ExploreAddress): Partial<ExploreAddress> {
  return { range: range ?? '1h', from: undefined, until: undefined };
}

interface NoLinesProps {
  readonly address: ExploreAddress;
  readonly lines: Lines;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
}

const WEEK_MS = 7 * 86_400_000;

/** Says why there are no lines. */
function NoLines({ address, lines, onChange }: NoLinesProps): ReactNode {
  const zone = useZone();
  const { state, hint, isOld } = lines;
  if (state.kind === 'failed') {
    const { error } = state;
    if (faultOf(error) === undefined) return <ErrorNote error={error} />;
    return <p className="line-none muted">Correct the search to see its events.</p>;
  }
  if (state.kind === 'running' || isOld) return <p className="line-none muted">Searching…</p>;
  if (state.kind === 'stopped') return <Empty title="Stopped">Nothing was found before that.</Empty>;
  const range = describeRange(rangeOf(address), zone);
  const isShort = address.range === undefined || lastMs(address.range) < WEEK_MS;
  const where = address.source.length === 0 ? 'any source' : address.source.join(', ');
  return (
    <Empty title={address.live ? 'No events yet' : 'No events'}>
      {address.q === '' ? 'There are no events' : 'No event matches'} in {where}
      {address.project !== '' && `, project ${address.project}`}: {range.toLowerCase()}.
      {hint !== undefined && ` A hint: ${hint}.`}{' '}
      {isShort && (
        <QuietButton onClick={() => onChange({ range: '7d', from: undefined, until: undefined })}>
          Search the last 7 days
        </QuietButton>
      )}
    </Empty>
  );
}

/** The links that a line's source has for a value. */
function createLinksOf(sources: readonly SearchSource[]) {
  const linksBySource = new Map(sources.map(({ name, links }) => [name, links]));
  return (line: Line, field: string): readonly LinesLink[] =>
    (linksBySource.get(line.source) ?? [])
      .filter((link) => toPath(link.field) === toPath(field))
      .flatMap(({ label, url }) => {
        const filled = fillLink(url, (name) => textOf(line, name === 'value' ? field : name));
        return filled === undefined ? [] : [{ label, url: filled }];
      });
}

/** A search may name a path of the metadata with `metadata.` before it, or without. */
function toPath(field: string): string {
  return field.replace(/^metadata\./, '');
}

function textOf(line: Line, field: string): string {
  const value = valueAt(line, field);
  return value === null || value === undefined ? '' : formatValue(value);
}

/**
 * The address of a link (docs/sources.md): each `{…}` is replaced by a value, encoded.
 *
 * @param textOf the text of a field, or of `value`; empty if there is none
 * @returns undefined if a value is missing
 */
function fillLink(url: string, textOf: (field: string) => string): string | undefined {
  let isWhole = true;
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_whole, field: string) => {
    const value = textOf(field);
    isWhole &&= value !== '';
    return encodeURIComponent(value.toWellFormed());
  });
  return isWhole ? filled : undefined;
}

// Loaded when the fields are first shown.
const FieldList = lazyPart(async () => (await import('./analysis/fields.tsx')).FieldList);
