import type { RejectedRequestsView } from '../../../../src/management/admin-view.ts';
import { query, useRead } from '../../api/queries.ts';
import { formatCount } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { Tag } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { REFUSALS } from '../keys/sentence.tsx';
import { KeyName, useKeyNames } from './key-name.tsx';
import { SinceStart } from './since-start.tsx';

const REJECTED = query<RejectedRequestsView>('/api/rejected-requests', ['result', 'since']);
const EVERY_MS = 10_000;
const HEADS = [
  { name: 'Why' },
  { name: 'Address' },
  { name: 'Key' },
  { name: 'Route' },
  { name: 'Times', numeric: true },
  { name: 'Last' },
];

/** Requests that were rejected, with the address of their client. */
export function RejectedRequests() {
  const { value, error } = useRead(REJECTED, { everyMs: EVERY_MS });
  const names = useKeyNames();
  const nowMs = Date.now();
  return (
    <SinceStart
      title="Rejected requests"
      heads={HEADS}
      list={value}
      error={error}
      nothing="Requests without a right key, beyond a rate or a bound, or with a wrong body are listed here with their addresses."
      line={(one) => (
        <tr key={[one.code, one.reason, one.method, one.route, one.key, one.address].join(' ')}>
          <th scope="row">
            <div className="panel-table-name">
              <span>
                <Tag tone="bad">
                  {one.status} {one.code}
                </Tag>{' '}
                {one.reason !== null && (ownMember(REFUSALS, one.reason) ?? one.reason)}
              </span>
              {one.message !== null && one.reason === null && (
                <span className="small muted">{one.message}</span>
              )}
            </div>
          </th>
          <td data-label="Address">
            <code>{one.address}</code>
          </td>
          <td data-label="Key">
            {one.key === null ? '–' : <KeyName id={one.key} name={names.get(one.key)} />}
          </td>
          <td data-label="Route" className="admin-route">
            <code>
              {one.method} {one.route}
            </code>
          </td>
          <td data-label="Times" className="numeric">
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
