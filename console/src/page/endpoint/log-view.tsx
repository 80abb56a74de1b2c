import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { Answer } from '../../api/answer.ts';
import { useClient } from '../../api/client.ts';
import type { FieldValue } from '../../ui/lines/field-list.tsx';
import {
  addTerm,
  attributesOf,
  formatAt,
  formatValue,
  type Line,
  rangeAround,
  toggleColumn,
  valueAt,
} from '../../ui/lines/line.ts';
import { LinesPanel } from '../../ui/lines/lines-panel.tsx';
import { type Lines, useLines } from '../../ui/lines/use-lines.ts';
import { goToLines } from '../../ui/lines/use-place.ts';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { parseFilter } from './log-filter.ts';
import { createLogSource, findBounds } from './log-source.ts';
import { formatUrl, type UrlState } from './url-state.ts';

interface LogViewProps {
  readonly endpoint: EndpointView;
  readonly values: Readonly<Record<string, string>>;
  readonly answer: Answer;
  /** Whether the answer is of these values. */
  readonly isCurrent: boolean;
  readonly url: UrlState;
  readonly onChange: (change: Partial<UrlState>) => void;
}

/** The rows of an answer as lines, as Explore lists them. An endpoint has no search, so the filter is for the lines that are loaded. */
export function LogView({ endpoint, values, answer, isCurrent, url, onChange }: LogViewProps) {
  const { live, filter, columns } = url;
  const [path] = useLocation();
  const client = useClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `values` as they were for this answer, even while the next one is computed
  const source = useMemo(
    () => createLogSource(client, { endpoint, values, answer }),
    [client, endpoint, answer],
  );
  const at = isCurrent && endpoint.live_tail ? url.at : '';
  const lines = useLines(source, at);
  const filtered = useMemo(
    () => (filter.trim() === '' ? undefined : lines.lines.filter(parseFilter(filter))),
    [lines.lines, filter],
  );
  const { fields, valuesOf } = useLoaded(filtered ?? lines.lines);
  const bounds = findBounds(endpoint);
  // Time windows after a line are read to their end, which takes a cursor.
  const pathAround = (line: Line) => {
    const { start, end } = bounds;
    if (!endpoint.live_tail || start === undefined || end === undefined) return undefined;
    const { fromMs, untilMs } = rangeAround(line);
    const range = { [start]: new Date(fromMs).toISOString(), [end]: new Date(untilMs).toISOString() };
    const around = { ...url, values: { ...values, ...range }, filter: '', live: false, at: formatAt(line) };
    return `${path}?${formatUrl(around)}`;
  };
  return (
    <LinesPanel
      label="Log"
      {...{ source, lines, filtered, at, live, columns, fields, valuesOf, pathAround }}
      none={<NoLines lines={lines} isFiltered={filtered !== undefined} live={live} />}
      onLive={(next) => onChange({ live: next })}
      onFilter={(term) => onChange({ filter: addTerm(filter, term) })}
      onColumn={(field) => onChange({ columns: toggleColumn(columns, field) })}
    >
      <input
        className="input line-filter"
        type="search"
        aria-label="Filter the loaded lines"
        placeholder="Filter loaded lines: timeout status_code:>=500"
        autoComplete="off"
        spellCheck={false}
        value={filter}
        onChange={(event) => onChange({ filter: event.target.value })}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && goToLines(currentTarget)}
      />
    </LinesPanel>
  );
}

const LINES_LOOKED_AT = 50;
const VALUES_MAX = 20;

/** The fields of loaded lines, and the most frequent values among these. */
function useLoaded(lines: readonly Line[]) {
  const newest = lines[0]?.key;
  // Later lines rarely have other fields.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const fields = useMemo(() => {
    const all = lines.slice(0, LINES_LOOKED_AT).flatMap(({ metadata, row }) => {
      const columns = Object.keys(row);
      return [
        ...columns.filter((name) => name !== 'metadata'),
        ...attributesOf(metadata, columns).map(({ field }) => field),
      ];
    });
    return [...new Set(all)].map((name) => ({ name }));
  }, [newest]);
  const valuesOf = (field: string) => ({
    queryKey: ['loaded', field, lines.length, newest],
    queryFn: async () => countValues(lines, field),
  });
  return { fields, valuesOf };
}

function countValues(lines: readonly Line[], field: string): readonly FieldValue[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const value = formatValue(valueAt(line, field) ?? '');
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const all = [...counts].map(([value, count]) => ({ value, count }));
  return all.sort((a, b) => b.count - a.count).slice(0, VALUES_MAX);
}

interface NoLinesProps {
  readonly lines: Lines;
  readonly isFiltered: boolean;
  readonly live: boolean;
}

function NoLines({ lines: { state }, isFiltered, live }: NoLinesProps) {
  if (state.kind === 'failed') return <ErrorNote error={state.error} />;
  if (state.kind === 'running') return <p className="line-none muted">Reading…</p>;
  if (isFiltered) {
    return (
      <Empty title="No line matches">
        The filter is for loaded lines only: load older ones, or change it.
      </Empty>
    );
  }
  return (
    <Empty title="No entries">
      {live
        ? 'New entries appear here.'
        : 'No entry matches these values. Check the project and the range, or turn Live on and send an event.'}
    </Empty>
  );
}
