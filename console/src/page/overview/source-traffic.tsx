import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { type Row, toAnswer } from '../../api/answer.ts';
import { useClient } from '../../api/queries.ts';
import { formatCount, formatPercent } from '../../format/show.ts';
import { numeric, RowTable, type TableColumns } from '../../ui/table/panel-table.tsx';
import { explorePath } from '../explore/address.ts';
import { searchPath } from '../explore/search.ts';

const ERRORS = 'level:>=error';
const HOUR_MS = 3_600_000;
/** As many series as a histogram has at most. */
const SOURCES_MAX = '50';
const SHOWN_MAX = 20;
// Two counts of two hours, over every source.
const EVERY_MS = 60_000;

type SourceLine = ReturnType<typeof toSourceLines>[number];

/** The path of the events by source, of the last hour and the one before. @param q which events count */
export function countsPath(q: string, nowMs: number): string {
  const range = { fromMs: nowMs - 2 * HOUR_MS, untilMs: nowMs };
  const more = { part: 'histogram', by: 'source', buckets: '2', top: SOURCES_MAX };
  return searchPath({ q, source: [], project: '' }, range, more);
}

/** Returns the sources with events, most errors first. @param nowMs that of the paths whose rows these are */
export function toSourceLines(all: readonly Row[], errors: readonly Row[], nowMs: number) {
  const startOfHour = (nowMs - HOUR_MS) * 1_000;
  const count = (rows: readonly Row[], source: unknown, isLast: boolean) =>
    rows
      .filter((row) => row['source'] === source && Number(row['timestamp']) >= startOfHour === isLast)
      .reduce((sum, row) => sum + Number(row['count']), 0);
  const sources = new Set(
    [...all, ...errors].filter(({ other }) => other !== true).map((row) => row['source']),
  );
  return [...sources]
    .map((source) => ({
      source: String(source),
      errors: count(errors, source, true),
      events: count(all, source, true),
      /** Errors of the hour before. */
      before: count(errors, source, false),
    }))
    .filter((line) => line.errors + line.events > 0)
    .sort((a, b) => b.errors - a.errors || b.events - a.events || (a.source < b.source ? -1 : 1))
    .slice(0, SHOWN_MAX);
}

const COLUMNS: TableColumns<SourceLine> = {
  Source: ({ source }) => <Link href={`/sources/${source}`}>{source}</Link>,
  Errors: numeric(({ source, errors }) =>
    errors === 0 ? (
      '0'
    ) : (
      <Link href={explorePath({ q: ERRORS, source: [source] })} className="tone-bad" title="Explore them">
        {formatCount(errors)}
      </Link>
    ),
  ),
  // Counted one after the other while events come.
  'Of its events': numeric(({ errors, events }) => formatPercent(Math.min(1, errors / Math.max(1, events)))),
  'Hour before': numeric(({ before }) => formatCount(before)),
  Events: numeric(({ source, events }) => (
    <Link href={explorePath({ source: [source] })} title="Explore them">
      {formatCount(events)}
    </Link>
  )),
};

export function SourceTraffic() {
  const client = useClient();
  const { data, error } = useQuery({
    queryKey: ['events by source'],
    async queryFn({ signal }) {
      const nowMs = Date.now();
      const read = async (q: string) => toAnswer(await client.callRaw(countsPath(q, nowMs), { signal })).rows;
      const [all, errors] = await Promise.all([read(''), read(ERRORS)]);
      return toSourceLines(all, errors, nowMs);
    },
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  });
  return (
    <RowTable
      title="Sources in the last hour"
      rowClass="source-line"
      rows={data}
      error={error}
      empty={['No events', 'Nothing that this key may search has arrived in the last two hours.']}
      columns={COLUMNS}
      keyOf={({ source }) => source}
    />
  );
}
