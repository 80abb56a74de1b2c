import type { RejectedEventsView } from '../../../../src/management/admin-view.ts';
import { query, useRead } from '../../api/queries.ts';
import { formatCount } from '../../format/number.ts';
import { Code } from '../../ui/code.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { KeyName, useKeyNames } from './key-name.tsx';
import { SinceStart } from './since-start.tsx';

const REJECTED = query<RejectedEventsView>('/api/rejected-events', ['result', 'since']);
const EVERY_MS = 10_000;
const HEADS = [
  { name: 'Why' },
  { name: 'Source' },
  { name: 'Key' },
  { name: 'Events', numeric: true },
  { name: 'Last' },
];

type Row = RejectedEventsView['result'][number];

/** Events that were rejected, with the last of each kind. */
export function RejectedEvents() {
  const { value, error } = useRead(REJECTED, { everyMs: EVERY_MS });
  const names = useKeyNames();
  const nowMs = Date.now();
  return (
    <SinceStart
      title="Rejected events"
      heads={HEADS}
      list={value}
      error={error}
      nothing="Events that cannot be stored, such as too old ones, are listed here with their reason."
      line={(one) => (
        <tr key={[one.source, one.key, one.reason, one.first_at].join(' ')}>
          <th scope="row" className="admin-event">
            The event {one.reason}
            <Last row={one} />
          </th>
          <td data-label="Source">{one.source || 'none'}</td>
          <td data-label="Key">
            {one.key === null ? '–' : <KeyName id={one.key} name={names.get(one.key)} />}
          </td>
          <td data-label="Events" className="numeric">
            {formatCount(one.count)}
          </td>
          <td data-label="Last">
            <Ago iso={one.last_at} nowMs={nowMs} />
          </td>
        </tr>
      )}
    />
  );
}

function Last({ row: { last, reason } }: { readonly row: Row }) {
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
