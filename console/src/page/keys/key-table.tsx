import { useState } from 'react';
import type { KeyView } from '../../../../src/management/view.ts';
import { useClient } from '../../api/queries.ts';
import { formatCount } from '../../format/show.ts';
import { Button, QuietButton, Segmented, Tag, type Tone } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns, usePages } from '../../ui/table/panel-table.tsx';
import { Ago } from '../../ui/time/time-control.tsx';

const STATES = { active: 'Valid', ended: 'Revoked, expired' } as const;

const KEYS_AT_ONCE = 100;
const NO_KEYS =
  'Keys of the environment, and keys with more rights than yours, are not listed. Create one for each caller.';

type OnKey = (key: KeyView) => void;

const COLUMNS: TableColumns<KeyView> = {
  Key: (key) => <Name record={key} />,
  State: (key) => <State record={key} />,
  May: ({ scopes }) => (
    <span className="key-tags">
      {scopes.map((scope) => (
        <Tag key={scope}>{scope}</Tag>
      ))}
    </span>
  ),
  Limits: styled('key-limits', (key) => <Limits record={key} />),
  'Last used': ({ last_used_at: used, created_at: created }) => (
    <div className="key-facts">
      {used === null ? 'never' : <Ago iso={used} />}
      {created !== null && (
        <span className="small muted">
          made <Ago iso={created} />
        </span>
      )}
    </div>
  ),
};

export function KeyTable(props: Readonly<{ onMake: () => void; onRotate: OnKey; onRevoke: OnKey }>) {
  const { onMake, onRotate, onRevoke } = props;
  const [state, setState] = useState<keyof typeof STATES>('active');
  const pages = usePages<KeyView>('/api/keys', {
    ...{ size: KEYS_AT_ONCE, older: 'Load older keys', parameters: { state } },
  });
  const actions = (
    <div className="row">
      <Segmented label="Listed" options={STATES} selected={state} onSelect={setState} />
      <Button look="primary" onClick={onMake}>
        Create a key
      </Button>
    </div>
  );
  const columns: TableColumns<KeyView> = {
    ...COLUMNS,
    Change: styled('key-change', (key) =>
      stateOf(key).isOver ? (
        <span className="muted">–</span>
      ) : (
        <span className="key-buttons">
          {key.successor === null && (
            <QuietButton onClick={() => onRotate(key)}>
              Rotate<span className="visually-hidden"> {key.name}</span>
            </QuietButton>
          )}
          <QuietButton className="tone-bad" onClick={() => onRevoke(key)}>
            Revoke<span className="visually-hidden"> {key.name}</span>
          </QuietButton>
        </span>
      ),
    ),
  };
  return (
    <RowTable
      title="Keys"
      {...{ ...pages, actions, columns }}
      empty={['No keys', NO_KEYS]}
      rowClass="key-line"
      keyOf={({ id }) => id}
    />
  );
}

function Name({ record }: { readonly record: KeyView }) {
  const isOwn = record.id === useClient().self.id;
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

function State({ record }: { readonly record: KeyView }) {
  const state = stateOf(record);
  return (
    <div className="key-facts">
      <Tag tone={state.tone}>{state.label}</Tag>
      {!state.isOver && record.expires_at !== null && (
        <span className="small muted">
          ends <Ago iso={record.expires_at} />
        </span>
      )}
    </div>
  );
}

function Limits({ record: { endpoints, sources, pins, rate } }: { readonly record: KeyView }) {
  const limits = [
    endpoints && `Endpoints: ${endpoints.join(', ')}`,
    sources && `Sources: ${sources.join(', ')}`,
    ...Object.entries(pins).map(([name, value]) => `${name} = ${value}`),
    rate && `${formatCount(rate.per_second)}/s, ${formatCount(rate.burst)} at once`,
  ].filter((limit) => limit !== null);
  if (limits.length === 0) return <span className="muted">none</span>;
  return (
    <ul className="key-facts small">
      {limits.map((limit) => (
        <li key={limit}>{limit}</li>
      ))}
    </ul>
  );
}

const SOON_MS = 7 * 86_400_000;

function stateOf(record: KeyView): { label: string; tone: Tone; isOver: boolean } {
  if (record.revoked_at !== null) return { label: 'revoked', tone: 'bad', isOver: true };
  const leftMs =
    record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at) - Date.now();
  if (leftMs <= 0) return { label: 'expired', tone: 'bad', isOver: true };
  if (record.successor !== null) return { label: 'rotated', tone: 'warn', isOver: false };
  if (leftMs < SOON_MS) return { label: 'expires soon', tone: 'warn', isOver: false };
  return { label: 'good', tone: 'ok', isOver: false };
}
