import type { KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { formatCount } from '../../format/number.ts';
import { QuietButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time.tsx';
import { stateOf } from './key-state.ts';

interface KeyLineProps {
  readonly record: KeyView;
  readonly nowMs: number;
  readonly onRotate: (key: KeyView) => void;
  readonly onRevoke: (key: KeyView) => void;
}

export const KEY_HEADS = ['Key', 'State', 'May', 'Limits', 'Last used', 'Change'].map((name) => ({ name }));

/** A key, its rights, and its actions. */
export function KeyLine({ record, nowMs, onRotate, onRevoke }: KeyLineProps) {
  const { self } = useClient();
  const state = stateOf(record, nowMs);
  return (
    <tr className="key-line">
      <th scope="row">
        <div className="panel-table-name">
          <span>
            {record.name} {record.id === self.id && <Tag tone="accent">yours</Tag>}
          </span>
          <span className="small muted">
            <code>tr_{record.id}_…</code>
          </span>
          {record.description !== '' && <span className="small muted">{record.description}</span>}
        </div>
      </th>
      <td data-label="State">
        <div className="key-facts">
          <Tag tone={state.tone}>{state.label}</Tag>
          {!state.isOver && record.expires_at !== null && (
            <span className="small muted">
              ends <Ago iso={record.expires_at} nowMs={nowMs} />
            </span>
          )}
        </div>
      </td>
      <td data-label="May">
        <span className="key-tags">
          {record.scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </span>
      </td>
      <td data-label="Limits" className="key-limits">
        <Limits record={record} />
      </td>
      <td data-label="Last used">
        <div className="key-facts">
          {record.last_used_at === null ? 'never' : <Ago iso={record.last_used_at} nowMs={nowMs} />}
          {record.created_at !== null && (
            <span className="small muted">
              made <Ago iso={record.created_at} nowMs={nowMs} />
            </span>
          )}
        </div>
      </td>
      <td data-label="Change" className="key-change">
        {state.isOver ? (
          <span className="muted">–</span>
        ) : (
          <span className="key-buttons">
            {record.successor === null && (
              <QuietButton onClick={() => onRotate(record)}>
                Rotate<span className="visually-hidden"> {record.name}</span>
              </QuietButton>
            )}
            <QuietButton className="tone-bad" onClick={() => onRevoke(record)}>
              Revoke<span className="visually-hidden"> {record.name}</span>
            </QuietButton>
          </span>
        )}
      </td>
    </tr>
  );
}

function Limits({ record }: { readonly record: KeyView }) {
  const limits = limitsOf(record);
  if (limits.length === 0) return <span className="muted">none</span>;
  return (
    <dl className="key-limit-list">
      {limits.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The limits of a key other than its scopes and expiry. */
function limitsOf({ endpoints, sources, pins, rate }: KeyView): { name: string; value: string }[] {
  const pinned = Object.entries(pins).map(([name, value]) => `${name} = ${value}`);
  return [
    ...(endpoints === null ? [] : [{ name: 'endpoints', value: endpoints.join(', ') }]),
    ...(sources === null ? [] : [{ name: 'sources', value: sources.join(', ') }]),
    ...(pinned.length === 0 ? [] : [{ name: 'pinned', value: pinned.join(', ') }]),
    ...(rate === null ? [] : [{ name: 'rate', value: describeRate(rate) }]),
  ];
}

function describeRate({ per_second, burst }: NonNullable<KeyView['rate']>): string {
  return `${formatCount(per_second)}/s, ${formatCount(burst)} at once`;
}
