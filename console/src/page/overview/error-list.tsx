import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { toAnswer } from '../../api/answer.ts';
import { useClient } from '../../api/client.ts';
import { formatCount, formatPercent } from '../../format/number.ts';
import { ErrorNote } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { explorePath } from '../explore/address.ts';
import { countsPath, ERRORS, type ErrorLine, toErrorLines } from './error-line.ts';

// Two counts of two hours, over every source.
const EVERY_MS = 60_000;

const TITLE = 'Errors in the last hour';
const COLUMNS: readonly TableColumn<ErrorLine>[] = [
  {
    name: 'Source',
    cell: ({ source }) => (
      <Link href={explorePath({ q: ERRORS, source: [source] })} title="Explore its errors">
        {source}
      </Link>
    ),
  },
  { name: 'Errors', numeric: true, className: 'tone-bad', cell: ({ errors }) => formatCount(errors) },
  {
    name: 'Of its events',
    numeric: true,
    // Counted one after the other while events come.
    cell: ({ errors, events }) => formatPercent(Math.min(1, errors / Math.max(1, events))),
  },
  { name: 'Hour before', numeric: true, cell: ({ before }) => formatCount(before) },
];

/** Errors by source, of the events that the key may search: the first thing that one looks for. */
export function ErrorList() {
  const client = useClient();
  const { data, error } = useQuery({
    queryKey: ['errors by source'],
    async queryFn({ signal }) {
      const nowMs = Date.now();
      const read = async (q: string) => toAnswer(await client.callRaw(countsPath(q, nowMs), { signal })).rows;
      const [all, errors] = await Promise.all([read(''), read(ERRORS)]);
      return toErrorLines(all, errors, nowMs);
    },
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  });
  if (data === undefined || data.length === 0) {
    return (
      <Panel title={TITLE}>
        {error !== null ? (
          <ErrorNote error={error} />
        ) : (
          <p className="muted">{data === undefined ? 'Counting…' : 'None.'}</p>
        )}
      </Panel>
    );
  }
  return <RowTable title={TITLE} rows={data} columns={COLUMNS} keyOf={({ source }) => source} />;
}
