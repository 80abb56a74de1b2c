import { useState } from 'react';
import type { UsageView } from '../../../../src/management/admin-view.ts';
import { query, useRead } from '../../api/queries.ts';
import { formatBytes, formatCount, formatMs } from '../../format/number.ts';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Segmented } from '../../ui/tabs.tsx';
import { KeyName } from './key-name.tsx';

const BY = [
  { id: 'project', label: 'By project' },
  { id: 'key', label: 'By key' },
  { id: 'source', label: 'By source' },
] as const;
const DAYS = [
  { id: '7', label: '7 d' },
  { id: '30', label: '30 d' },
  { id: '90', label: '90 d' },
] as const;
type By = (typeof BY)[number]['id'];
type Days = (typeof DAYS)[number]['id'];
type Row = UsageView['result'][number];

const NAMES = { project: 'Project', key: 'Key', source: 'Source' } as const;
// Usage is written once a minute.
const EVERY_MS = 60_000;

/** What was stored and asked, by project, key or source. */
export function Usage() {
  const [by, setBy] = useState<By>('project');
  const [days, setDays] = useState<Days>('30');
  const read = query<UsageView>(`/api/usage?by=${by}&days=${days}`, ['result']);
  const { value, error } = useRead(read, { everyMs: EVERY_MS });
  const choices = (
    <div className="row">
      <Segmented label="Counted" options={BY} selected={by} onSelect={setBy} />
      <Segmented label="Range" options={DAYS} selected={days} onSelect={setDays} />
    </div>
  );
  if (error !== undefined) return <ErrorNote error={error} />;
  if (value === undefined || value.result.length === 0)
    return (
      <Panel title="Usage" actions={choices}>
        {value === undefined ? (
          <p className="muted">Reading…</p>
        ) : (
          <Empty title="Nothing stored">
            What is stored and asked is written down once a minute, and shown here by day.
          </Empty>
        )}
      </Panel>
    );
  return (
    <RowTable
      title="Usage"
      actions={choices}
      rows={value.result}
      columns={columnsOf(by, days)}
      keyOf={(row) => row.value}
    />
  );
}

function columnsOf(by: By, days: Days): readonly TableColumn<Row>[] {
  return [
    {
      name: NAMES[by],
      cell: ({ value, name }) =>
        by === 'key' ? (
          <KeyName id={value} {...(name !== null && { name })} />
        ) : (
          value || <span className="muted">without a project</span>
        ),
    },
    {
      name: `Events by day, last ${days} d`,
      label: 'By day',
      className: 'overview-trend',
      cell: ({ events, days: counts }) => (
        <Sparkline values={counts} points={counts.length} label={`${formatCount(events)} events by day`} />
      ),
    },
    { name: 'Events', numeric: true, cell: ({ events }) => formatCount(events) },
    { name: 'Bytes', numeric: true, cell: ({ bytes }) => formatBytes(bytes) },
    ...(by === 'source' ? [] : ASKED),
  ];
}

const ASKED: readonly TableColumn<Row>[] = [
  { name: 'Queries', numeric: true, cell: ({ queries }) => formatCount(queries) },
  { name: 'Core time', numeric: true, cell: ({ core_seconds: cores }) => formatMs(cores * 1000) },
];
