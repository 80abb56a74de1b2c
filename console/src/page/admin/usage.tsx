import { useState } from 'react';
import { Link } from 'wouter';
import { query, useRead } from '../../api/queries.ts';
import { formatBytes, formatCount, formatMs } from '../../format/number.ts';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Segmented } from '../../ui/tabs.tsx';
import { KeyName, useKeyNames } from './key-name.tsx';

const BY = [
  { id: 'project', label: 'By project' },
  { id: 'key', label: 'By key' },
] as const;
const DAYS = [
  { id: '7', label: '7 d' },
  { id: '30', label: '30 d' },
  { id: '90', label: '90 d' },
] as const;
// `max_rows` of the endpoint, which has the newest days first.
const ROWS_MAX = 10_000;
// Usage is written once a minute.
const EVERY_MS = 60_000;

type By = (typeof BY)[number]['id'];
type Count = 'events' | 'bytes' | 'queries' | 'core_seconds';
type Day = Readonly<Record<By, string> & Record<Count, number>>;
/** A project or key, and what it has stored and asked on each day. */
type Row = readonly [name: string, days: readonly Day[]];

const sum = ([, days]: Row, count: Count) => days.reduce((total, day) => total + day[count], 0);

/** What was stored and asked, by project or key: the endpoint usage.by-project. */
export function Usage() {
  const [by, setBy] = useState<By>('project');
  const [days, setDays] = useState<(typeof DAYS)[number]['id']>('30');
  const asked = `usage.by-project?by=${by}&days=${days}`;
  const read = query<{ readonly result: readonly Day[] }>(`/api/endpoints/query/${asked}`, ['result']);
  const { value, error } = useRead(read, { everyMs: EVERY_MS });
  const names = useKeyNames();
  const actions = (
    <div className="row">
      <Link href={`/endpoints/${asked}`}>By day</Link>
      <Segmented label="Counted" options={BY} selected={by} onSelect={setBy} />
      <Segmented label="Range" options={DAYS} selected={days} onSelect={setDays} />
    </div>
  );
  const rows = value && [...Map.groupBy(value.result, (day) => day[by])];
  const nameOf = ([id]: Row) =>
    by === 'key' ? (
      <KeyName id={id} name={names.get(id)} />
    ) : (
      id || <span className="muted">without a project</span>
    );
  return (
    <RowTable
      {...{ title: 'Usage', actions, error }}
      empty={['Nothing stored', 'What is stored and asked is written down once a minute.']}
      rows={rows?.toSorted((a, b) => sum(b, 'bytes') - sum(a, 'bytes'))}
      columns={[{ name: by === 'key' ? 'Key' : 'Project', cell: nameOf }, ...COUNTS]}
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

const COUNTS: readonly TableColumn<Row>[] = [
  { name: 'Events', numeric: true, cell: (row) => formatCount(sum(row, 'events')) },
  { name: 'Bytes', numeric: true, cell: (row) => formatBytes(sum(row, 'bytes')) },
  { name: 'Queries', numeric: true, cell: (row) => formatCount(sum(row, 'queries')) },
  { name: 'Core time', numeric: true, cell: (row) => formatMs(sum(row, 'core_seconds') * 1000) },
];
