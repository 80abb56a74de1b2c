import type { RejectedEventsView, RejectedRequestsView } from '../../../../src/management/admin-view.ts';
import type { ApiError } from '../../api/client.ts';
import { query, useRead } from '../../api/queries.ts';
import { formatCount } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { formatAgo } from '../../format/time.ts';
import { Code } from '../../ui/code.tsx';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { REFUSALS } from '../keys/trail.tsx';
import { KeyName, useKeyNames } from './key-name.tsx';

const EVERY_MS = 10_000;
const REQUESTS = query<RejectedRequestsView>('/api/rejected-requests', ['result', 'since']);
const EVENTS = query<RejectedEventsView>('/api/rejected-events', ['result', 'since']);

type RejectedRequest = RejectedRequestsView['result'][number];
type RejectedEvent = RejectedEventsView['result'][number];

/** Requests that were rejected, with the address of their client. */
export function RejectedRequests() {
  const names = useKeyNames();
  const columns: readonly TableColumn<RejectedRequest>[] = [
    {
      name: 'Why',
      cell: ({ status, code, reason, message }) => (
        <div className="panel-table-name">
          <span>
            <Tag tone="bad">
              {status} {code}
            </Tag>{' '}
            {reason !== null && (ownMember(REFUSALS, reason) ?? reason)}
          </span>
          {message !== null && reason === null && <span className="small muted">{message}</span>}
        </div>
      ),
    },
    { name: 'Address', cell: ({ address }) => <code>{address}</code> },
    keyColumn(names),
    {
      name: 'Route',
      className: 'admin-route',
      cell: ({ method, route }) => (
        <code>
          {method} {route}
        </code>
      ),
    },
    { name: 'Times', numeric: true, cell: ({ count }) => formatCount(count) },
    LAST,
  ];
  return (
    <SinceStart
      title="Rejected requests"
      columns={columns}
      {...useRead(REQUESTS, { everyMs: EVERY_MS })}
      nothing="Requests without a right key, beyond a rate or a bound, or with a wrong body are listed here with their addresses."
      keyOf={(one) => [one.code, one.reason, one.method, one.route, one.key, one.address].join(' ')}
    />
  );
}

/** Events that were rejected, with the last of each kind. */
export function RejectedEvents() {
  const names = useKeyNames();
  const columns: readonly TableColumn<RejectedEvent>[] = [
    {
      name: 'Why',
      className: 'admin-event',
      cell: (one) => (
        <>
          The event {one.reason}
          <Last event={one} />
        </>
      ),
    },
    { name: 'Source', cell: ({ source }) => source || 'none' },
    keyColumn(names),
    { name: 'Events', numeric: true, cell: ({ count }) => formatCount(count) },
    LAST,
  ];
  return (
    <SinceStart
      title="Rejected events"
      columns={columns}
      {...useRead(EVENTS, { everyMs: EVERY_MS })}
      nothing="Events that cannot be stored, such as too old ones, are listed here with their reason."
      keyOf={(one) => [one.source, one.key, one.reason, one.first_at].join(' ')}
    />
  );
}

function keyColumn(names: ReadonlyMap<string, string>): TableColumn<{ readonly key: string | null }> {
  return {
    name: 'Key',
    cell: ({ key }) => (key === null ? '–' : <KeyName id={key} name={names.get(key)} />),
  };
}

const LAST: TableColumn<{ readonly last_at: string }> = {
  name: 'Last',
  cell: ({ last_at: at }) => <Ago iso={at} />,
};

function Last({ event: { last, reason } }: { readonly event: RejectedEvent }) {
  if (last === null) return <p className="small muted">This key may not see the events.</p>;
  return (
    <details>
      <summary>The last one</summary>
      {last.reason !== reason && <p>The event {last.reason}.</p>}
      {last.event === null ? (
        <p className="muted">It is not kept: its source redacts events, or it was not readable.</p>
      ) : (
        <Code text={last.event} label="The last event" />
      )}
    </details>
  );
}

interface SinceStartProps<T> {
  readonly title: string;
  readonly columns: readonly TableColumn<T>[];
  readonly keyOf: (row: T) => string;
  readonly value: { readonly since: string; readonly result: readonly T[] } | undefined;
  readonly error: ApiError | undefined;
  /** What would be here. */
  readonly nothing: string;
}

/** A table of what this process keeps in memory. */
function SinceStart<T>({ title, columns, keyOf, value, error, nothing }: SinceStartProps<T>) {
  const { result, since = '' } = value ?? {};
  return (
    <RowTable
      {...{ title, columns, keyOf, error }}
      rows={result}
      empty={[`Nothing since the start, ${formatAgo(Date.parse(since), Date.now())}`, nothing]}
      below={
        <p className="admin-below small muted">
          Kept in memory by this process since it started, <Ago iso={since} />.
        </p>
      }
    />
  );
}
