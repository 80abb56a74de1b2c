import type { RetentionView } from '../../../../src/management/admin-view.ts';
import { query, useRead } from '../../api/queries.ts';
import { formatBytes, formatCount, formatPercent } from '../../format/number.ts';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { PanelTable } from '../../ui/table/panel-table.tsx';
import { Tag } from '../../ui/tag.tsx';

const RETENTION = query<RetentionView>('/api/retention', ['due', 'stopped', 'message']);
const EVERY_MS = 10_000;
const HEADS = [
  { name: 'Source' },
  { name: 'State' },
  { name: 'Days' },
  { name: 'Events', numeric: true },
  { name: 'On disk', numeric: true },
  { name: 'Share', numeric: true },
];
const REASONS = { age: 'older than its retention', size: 'the store is larger than its bound' } as const;
const HELD = { clock: 'waits for the clock', share: 'waits for a confirmation' } as const;
const COMMANDS = `npx tailrace retention            # what is due, and why it waits
npx tailrace retention --confirm  # accept this clock and these days, once`;

/** What retention deletes next, and what waits for an operator. */
export function Retention() {
  const { value, error } = useRead(RETENTION, { everyMs: EVERY_MS });
  if (error !== undefined) return <ErrorNote error={error} />;
  if (value === undefined) return <p className="muted">Reading…</p>;
  const { message, stopped, due } = value;
  return (
    <>
      {message !== null && (
        <div className="note is-bad" role="alert">
          <strong>{stopped.length > 0 ? 'Retention has stopped' : 'The clock is behind'}</strong>
          <span>{message}</span>
        </div>
      )}
      {message !== null && (
        <Code text={COMMANDS} language="bash" label="Beside the service, with its settings" />
      )}
      {due.length === 0 ? (
        <Panel title="Due">
          <Empty title="Nothing is due">
            Whole days past the retention of their source are deleted once an hour.
          </Empty>
        </Panel>
      ) : (
        <PanelTable title="Due" heads={HEADS}>
          {due.map((one) => (
            <tr key={`${one.source} ${one.reason} ${one.held}`}>
              <th scope="row">
                <div className="panel-table-name">
                  <span>{one.source}</span>
                  <span className="small muted">{REASONS[one.reason]}</span>
                </div>
              </th>
              <td data-label="State">
                <Tag tone={one.held === null ? 'neutral' : 'warn'}>
                  {one.held === null ? 'deleted within the hour' : HELD[one.held]}
                </Tag>
              </td>
              <td data-label="Days">
                {one.first_day} to {one.last_day}
              </td>
              <td data-label="Events" className="numeric">
                {formatCount(one.rows)}
              </td>
              <td data-label="On disk" className="numeric">
                {formatBytes(one.bytes)}
              </td>
              <td data-label="Share" className="numeric">
                {formatPercent(one.percent / 100)}
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </>
  );
}
