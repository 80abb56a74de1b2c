import type { KeyEntry, KeyView } from '../../../../src/management/view.ts';
import { type List, query, useRead } from '../../api/queries.ts';
import { formatCount } from '../../format/show.ts';
import { ownMember } from '../../format/values.ts';
import { Tag } from '../../ui/page-part.tsx';
import { RowTable, styled, type TableColumns, usePages } from '../../ui/table/panel-table.tsx';
import { Instant } from '../../ui/time/time-control.tsx';

const COLUMNS: TableColumns<KeyEntry> = {
  When: ({ at }) => <Instant iso={at} />,
  What: ({ action, count }) => (
    <>
      <Tag tone={action === 'refused' ? 'bad' : 'neutral'}>{action.replace('_', ' ')}</Tag>
      {count > 1 && ` ${formatCount(count)} times`}
    </>
  ),
  By: ({ actor, address }) => (
    <>
      {actor !== '' && <Actor id={actor} />}
      {address !== '' && <span className="small muted">{address}</span>}
    </>
  ),
  Key: ({ key_id: id }) => id !== '' && <KeyName id={id} />,
  // The detail of a rejection, `unknown from 192.0.2.1`, is shown as `unknown key, from 192.0.2.1`.
  Detail: styled('trail-detail', ({ action, detail }) => {
    if (action !== 'refused') return detail;
    const [reason = '', ...addresses] = detail.split(' from ');
    return [ownMember(REJECT_REASONS, reason) ?? reason, ...addresses].join(', from ');
  }),
};
const ENTRIES_AT_ONCE = 50;

export function Trail() {
  const pages = usePages<KeyEntry>('/api/keys/log', { size: ENTRIES_AT_ONCE, older: 'Load older entries' });
  return (
    <RowTable
      title="Audit trail"
      {...pages}
      // Rejections are counted for a minute, and written after later changes.
      rows={pages.rows?.toSorted((a, b) => (b.at ?? '').localeCompare(a.at ?? '') || b.id - a.id)}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={['No entries', 'Created, changed and revoked keys appear here; rejections once a minute.']}
    />
  );
}

/** The reasons of rejected requests (docs/keys.md, audit trail). */
export const REJECT_REASONS: Readonly<Record<string, string>> = {
  missing: 'no key',
  unknown: 'unknown key',
  revoked: 'revoked key',
  expired: 'expired key',
  scope: 'the key lacks the scope',
  endpoint: 'the key may not read the endpoint',
  source: 'the key may not send to the source',
  pin: 'another value is pinned',
  wider: 'more rights than those of the key',
  sign_in: 'a sign-in that failed',
  session: 'a session that has ended',
};

function Actor({ id }: { readonly id: string }) {
  if (id === 'cli') return <span>The CLI </span>;
  if (id.includes('(person:')) return <span>{id.split(' (person:', 1)} </span>;
  return <KeyName id={id} />;
}

const KEYS = query<List<KeyView>>('/api/keys?limit=1000', ['result'], 60_000);
const OWN: Readonly<Record<string, string>> = {
  private: 'The environment’s private key',
  public: 'The environment’s public key',
  '': 'The service itself',
};

/** The name of a key, if it is one of the newest, and its id. */
export function KeyName({ id }: { readonly id: string }) {
  const { value } = useRead(KEYS);
  const name = value?.result.find((key) => key.id === id)?.name ?? OWN[id];
  return (
    <span className="panel-table-name">
      {name !== undefined && <span>{name}</span>}
      {OWN[id] === undefined && (
        <code className="small muted">{id.startsWith('person:') ? id : `tr_${id}_…`}</code>
      )}
    </span>
  );
}
