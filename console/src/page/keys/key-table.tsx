import { type ReactNode, useId, useState } from 'react';
import type { KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import type { Pages } from '../../api/queries.ts';
import { formatCount } from '../../format/number.ts';
import { Button, QuietButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { LoadMore, RowTable, type TableColumn } from '../../ui/table/panel-table.tsx';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time-control.tsx';

interface KeyListProps {
  readonly keys: Pages<KeyView>;
  readonly onMake: () => void;
  readonly onRotate: (key: KeyView) => void;
  readonly onRevoke: (key: KeyView) => void;
}

/** Every valid key that the signed-in key may see, newest first. */
export function KeyList({ keys, onMake, onRotate, onRevoke }: KeyListProps) {
  const { items, busy } = keys;
  const make = (
    <Button look="primary" onClick={onMake}>
      Create a key
    </Button>
  );
  if (items === undefined || items.length === 0) {
    return (
      <Panel title="Keys" actions={make}>
        {items === undefined ? (
          busy && <p className="muted">Reading…</p>
        ) : (
          <Empty title="No keys">
            Keys of the environment, and keys with more rights than yours, are not listed. Create one for each
            caller.
          </Empty>
        )}
      </Panel>
    );
  }
  return <KeyTable title="Keys" actions={make} more="Load older keys" {...{ keys, onRotate, onRevoke }} />;
}

const TITLE = 'Revoked and expired keys';

/** Revoked and expired keys; collapsed, since their number only grows. */
export function EndedKeys({ keys }: { readonly keys: Pages<KeyView> }) {
  const [shown, setShown] = useState(false);
  const id = useId();
  const { items = [], hasMore } = keys;
  if (items.length === 0) return null;
  const toggle = (
    <Button aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
      {shown ? 'Hide' : 'Show'} {formatCount(items.length)}
      {hasMore && ' and more'}
    </Button>
  );
  return (
    <div id={id}>
      {shown ? (
        <KeyTable title={TITLE} actions={toggle} keys={keys} more="Load older ones" />
      ) : (
        <Panel title={TITLE} actions={toggle}>
          <p className="small muted">These keys are rejected. They stay listed for the audit trail.</p>
        </Panel>
      )}
    </div>
  );
}

interface KeyTableProps {
  readonly title: string;
  readonly actions: ReactNode;
  readonly keys: Pages<KeyView>;
  readonly more: string;
  /** Left out for keys that cannot be changed. */
  readonly onRotate?: (key: KeyView) => void;
  readonly onRevoke?: (key: KeyView) => void;
}

/** Keys, their rights, and their actions. */
function KeyTable({ title, actions, keys, more, onRotate, onRevoke }: KeyTableProps) {
  const { items = [], hasMore, busy, loadMore } = keys;
  const ownId = useClient().self.id;
  const nowMs = Date.now();
  const columns: readonly TableColumn<KeyView>[] = [
    { name: 'Key', cell: (key) => <Name record={key} isOwn={key.id === ownId} /> },
    { name: 'State', cell: (key) => <State record={key} nowMs={nowMs} /> },
    {
      name: 'May',
      cell: ({ scopes }) => (
        <span className="key-tags">
          {scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </span>
      ),
    },
    { name: 'Limits', className: 'key-limits', cell: (key) => <Limits record={key} /> },
    { name: 'Last used', cell: (key) => <Times record={key} nowMs={nowMs} /> },
    {
      name: 'Change',
      className: 'key-change',
      cell: (key) =>
        stateOf(key, nowMs).isOver ? (
          <span className="muted">–</span>
        ) : (
          <span className="key-buttons">
            {key.successor === null && (
              <QuietButton onClick={() => onRotate?.(key)}>
                Rotate<span className="visually-hidden"> {key.name}</span>
              </QuietButton>
            )}
            <QuietButton className="tone-bad" onClick={() => onRevoke?.(key)}>
              Revoke<span className="visually-hidden"> {key.name}</span>
            </QuietButton>
          </span>
        ),
    },
  ];
  return (
    <RowTable
      {...{ title, actions, columns }}
      rowClass="key-line"
      rows={items}
      keyOf={({ id }) => id}
      below={hasMore && <LoadMore label={more} busy={busy} onLoad={loadMore} />}
    />
  );
}

function Name({ record, isOwn }: { readonly record: KeyView; readonly isOwn: boolean }) {
  return (
    <div className="panel-table-name">
      <span>
        {record.name} {isOwn && <Tag tone="accent">yours</Tag>}
      </span>
      <span className="small muted">
        <code>tr_{record.id}_…</code>
      </span>
      {record.description !== '' && <span className="small muted">{record.description}</span>}
    </div>
  );
}

interface TimesProps {
  readonly record: KeyView;
  readonly nowMs: number;
}

function State({ record, nowMs }: TimesProps) {
  const state = stateOf(record, nowMs);
  return (
    <div className="key-facts">
      <Tag tone={state.tone}>{state.label}</Tag>
      {!state.isOver && record.expires_at !== null && (
        <span className="small muted">
          ends <Ago iso={record.expires_at} nowMs={nowMs} />
        </span>
      )}
    </div>
  );
}

function Times({ record, nowMs }: TimesProps) {
  return (
    <div className="key-facts">
      {record.last_used_at === null ? 'never' : <Ago iso={record.last_used_at} nowMs={nowMs} />}
      {record.created_at !== null && (
        <span className="small muted">
          made <Ago iso={record.created_at} nowMs={nowMs} />
        </span>
      )}
    </div>
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

interface KeyState {
  readonly label: string;
  readonly tone: Tone;
  /** The key is revoked or expired. */
  readonly isOver: boolean;
}

const SOON_MS = 7 * 86_400_000;

/** Whether a key is valid, and for how long. */
function stateOf(record: KeyView, nowMs: number): KeyState {
  if (record.revoked_at !== null) return { label: 'revoked', tone: 'bad', isOver: true };
  const leftMs =
    record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at) - nowMs;
  if (leftMs <= 0) return { label: 'expired', tone: 'bad', isOver: true };
  if (record.successor !== null) return { label: 'rotated', tone: 'warn', isOver: false };
  if (leftMs < SOON_MS) return { label: 'expires soon', tone: 'warn', isOver: false };
  return { label: 'good', tone: 'ok', isOver: false };
}
