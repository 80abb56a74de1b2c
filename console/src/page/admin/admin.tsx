import { Link } from 'wouter';
import { PageHead, Segmented, Tabs, Tag } from '../../ui/page-part.tsx';
import './admin.css';
import { useState } from 'react';
import type { RejectedEventsView, RejectedRequestsView } from '../../../../src/management/admin-view.ts';
import { type List, query, useRead } from '../../api/queries.ts';
import { formatAgo, formatBytes, formatCount, formatMs } from '../../format/show.ts';
import { ownMember } from '../../format/values.ts';
import { Code } from '../../ui/code.tsx';
import { usePageAddress } from '../../ui/page-address.ts';
import {
  numeric,
  RowTable,
  type RowTableProps,
  styled,
  type TableColumns,
} from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { KeyName, REJECT_REASONS } from '../keys/trail.tsx';

const LABELS = { usage: 'Usage', requests: 'Rejected requests', events: 'Rejected events' } as const;
const PARTS = { usage: Usage, requests: RejectedRequests, events: RejectedEvents };

/** What an operator looks after. `?show=` names the part. */
export default function AdminPage() {
  const { query: asked, change } = usePageAddress();
  const named = asked.get('show');
  const id = named === 'requests' || named === 'events' ? named : 'usage';
  const Part = PARTS[id];
  return (
    <>
      <PageHead title="Admin">Who uses the service, and what it rejects.</PageHead>
      <div>
        <Tabs
          label="Parts of this page"
          options={LABELS}
          selected={id}
          onSelect={(show) => change({ show }, { replace: true })}
        >
          <Part />
        </Tabs>
      </div>
    </>
  );
}

const BY = { project: 'By project', key: 'By key' } as const;
const DAYS = { 7: '7 d', 30: '30 d', 90: '90 d' } as const;
// `max_rows` of the endpoint, which has the newest days first.
const ROWS_MAX = 10_000;
// Usage is written once a minute.
const USAGE_EVERY_MS = 60_000;

type By = keyof typeof BY;
type Count = 'events' | 'bytes' | 'queries' | 'core_seconds';
type Day = Readonly<Record<By, string> & Record<Count, number>>;
/** A project or key, and what it has stored and asked on each day. */
type Row = readonly [name: string, days: readonly Day[]];

const sum = ([, days]: Row, count: Count) => days.reduce((total, day) => total + day[count], 0);

/** What was stored and asked, by project or key: the endpoint usage.by-project. */
function Usage() {
  const [by, setBy] = useState<By>('project');
  const [days, setDays] = useState<`${keyof typeof DAYS}`>('30');
  const asked = `usage.by-project?by=${by}&days=${days}`;
  const read = query<List<Day>>(`/api/endpoints/query/${asked}`, ['result']);
  const { value, error } = useRead(read, { everyMs: USAGE_EVERY_MS });
  const actions = (
    <div className="row">
      <Link href={`/endpoints/${asked}`}>By day</Link>
      <Segmented label="Counted" options={BY} selected={by} onSelect={setBy} />
      <Segmented label="Range" options={DAYS} selected={days} onSelect={setDays} />
    </div>
  );
  const rows = value && [...Map.groupBy(value.result, (day) => day[by])];
  const nameOf = ([id]: Row) =>
    by === 'key' ? <KeyName id={id} /> : id || <span className="muted">without a project</span>;
  return (
    <RowTable
      {...{ title: 'Usage', actions, error }}
      empty={['Nothing stored', 'What is stored and asked is written down once a minute.']}
      rows={rows?.toSorted((a, b) => sum(b, 'bytes') - sum(a, 'bytes'))}
      columns={{ [by === 'key' ? 'Key' : 'Project']: nameOf, ...COUNTS }}
      keyOf={([id]) => id}
      below={
        value !== undefined &&
        value.result.length >= ROWS_MAX && (
          <p className="admin-below small muted">
            Without the oldest days: the endpoint returns {ROWS_MAX} rows.
          </p>
        )
      }
    />
  );
}

const COUNTS: TableColumns<Row> = {
  Events: numeric((row) => formatCount(sum(row, 'events'))),
  Bytes: numeric((row) => formatBytes(sum(row, 'bytes'))),
  Queries: numeric((row) => formatCount(sum(row, 'queries'))),
  'Core time': numeric((row) => formatMs(sum(row, 'core_seconds') * 1000)),
};

const EVERY_MS = 10_000;
const REQUESTS = query<RejectedRequestsView>('/api/rejected-requests', ['result', 'since']);
const EVENTS = query<RejectedEventsView>('/api/rejected-events', ['result', 'since']);

type RejectedEvent = RejectedEventsView['result'][number];

const keyCell = ({ key }: { readonly key: string | null }) => (key === null ? '–' : <KeyName id={key} />);
const lastCell = ({ last_at: at }: { readonly last_at: string }) => <Ago iso={at} />;

const REQUEST_COLUMNS: TableColumns<RejectedRequestsView['result'][number]> = {
  Why: ({ status, code, reason, message }) => (
    <div className="panel-table-name">
      <span>
        <Tag tone="bad">
          {status} {code}
        </Tag>{' '}
        {reason !== null && (ownMember(REJECT_REASONS, reason) ?? reason)}
      </span>
      {message !== null && reason === null && <span className="small muted">{message}</span>}
    </div>
  ),
  Address: ({ address }) => <code>{address}</code>,
  Key: keyCell,
  Route: styled('admin-route', ({ method, route }) => <code>{`${method} ${route}`}</code>),
  Times: numeric(({ count }) => formatCount(count)),
  Last: lastCell,
};

function RejectedRequests() {
  return (
    <SinceStart
      title="Rejected requests"
      columns={REQUEST_COLUMNS}
      {...useRead(REQUESTS, { everyMs: EVERY_MS })}
      nothing="Requests without a right key, beyond a rate or a bound, or with a wrong body are listed here with their addresses."
      keyOf={(one) => [one.code, one.reason, one.method, one.route, one.key, one.address].join(' ')}
    />
  );
}

const EVENT_COLUMNS: TableColumns<RejectedEvent> = {
  Why: styled('admin-event', (one) => (
    <>
      The event {one.reason}
      <Last event={one} />
    </>
  )),
  Source: ({ source }) => source || 'none',
  Key: keyCell,
  Events: numeric(({ count }) => formatCount(count)),
  Last: lastCell,
};

function RejectedEvents() {
  return (
    <SinceStart
      title="Rejected events"
      columns={EVENT_COLUMNS}
      {...useRead(EVENTS, { everyMs: EVERY_MS })}
      nothing="Events that cannot be stored, such as too old ones, are listed here with their reason."
      keyOf={(one) => [one.source, one.key, one.reason, one.first_at].join(' ')}
    />
  );
}

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

interface SinceStartProps<T> extends Pick<RowTableProps<T>, 'title' | 'columns' | 'keyOf' | 'error'> {
  readonly value: { readonly since: string; readonly result: readonly T[] } | undefined;
  readonly nothing: string;
}

function SinceStart<T>({ value, nothing, ...table }: SinceStartProps<T>) {
  const { result, since = '' } = value ?? {};
  return (
    <RowTable
      {...table}
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
