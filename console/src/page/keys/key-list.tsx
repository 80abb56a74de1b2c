import type { KeyView } from '../../../../src/http/view.ts';
import { useClient } from '../../api/client.ts';
import type { Pages } from '../../api/use-pages.ts';
import { Empty } from '../../ui/empty.tsx';
import { LoadMore } from '../../ui/load-more.tsx';
import { Panel } from '../../ui/panel.tsx';
import { PanelTable } from '../../ui/panel-table.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time.tsx';
import { stateOf } from './key-state.ts';
import { limitsOf } from './limit.ts';

interface KeyListProps {
  readonly keys: Pages<KeyView>;
  readonly onMake: () => void;
  readonly onRotate: (key: KeyView) => void;
  readonly onRevoke: (key: KeyView) => void;
}

const HEADS = ['Key', 'State', 'May', 'Limits', 'Last used', 'Change'].map((name) => ({
  name,
}));

/** Every key that this one may know of, newest first. */
export function KeyList({ keys, onMake, onRotate, onRevoke }: KeyListProps) {
  const { items, hasMore, busy, loadMore } = keys;
  const make = (
    <button type="button" className="button primary" onClick={onMake}>
      Make a key
    </button>
  );
  if (items === undefined || items.length === 0) {
    return (
      <Panel title="Keys" actions={make}>
        {items === undefined ? (
          busy && <p className="muted">Reading…</p>
        ) : (
          <Empty title="There is no key yet">
            Until one is made, only those of the environment are accepted. Make one for each program that
            calls this service.
          </Empty>
        )}
      </Panel>
    );
  }
  const nowMs = Date.now();
  return (
    <PanelTable
      title="Keys"
      heads={HEADS}
      actions={make}
      below={hasMore && <LoadMore label="Load older keys" busy={busy} onLoad={loadMore} />}
    >
      {items.map((record) => (
        <KeyLine key={record.id} {...{ record, nowMs, onRotate, onRevoke }} />
      ))}
    </PanelTable>
  );
}

interface KeyLineProps extends Pick<KeyListProps, 'onRotate' | 'onRevoke'> {
  readonly record: KeyView;
  readonly nowMs: number;
}

function KeyLine({ record, nowMs, onRotate, onRevoke }: KeyLineProps) {
  const { self } = useClient();
  const state = stateOf(record, nowMs);
  return (
    <tr className="key-line">
      <th scope="row">
        <div className="named">
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
              <button type="button" className="button quiet" onClick={() => onRotate(record)}>
                Rotate<span className="visually-hidden"> {record.name}</span>
              </button>
            )}
            <button type="button" className="button quiet tone-bad" onClick={() => onRevoke(record)}>
              Revoke<span className="visually-hidden"> {record.name}</span>
            </button>
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
    <dl className="limits">
      {limits.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
