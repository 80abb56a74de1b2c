import type { KeyEntry } from '../../../../src/management/view.ts';
import { formatCount } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { RowTable, type TableColumn, usePages } from '../../ui/table/panel-table.tsx';
import { Tag } from '../../ui/tag.tsx';
import { Instant } from '../../ui/time/time-control.tsx';
import { KeyName } from '../admin/key-name.tsx';

const COLUMNS: readonly TableColumn<KeyEntry>[] = [
  { name: 'When', cell: ({ at }) => <Instant iso={at} /> },
  {
    name: 'What',
    cell: ({ action, count }) => (
      <>
        <Tag tone={action === 'refused' ? 'bad' : 'neutral'}>{action.replace('_', ' ')}</Tag>
        {count > 1 && ` ${formatCount(count)} times`}
      </>
    ),
  },
  {
    name: 'By',
    cell: ({ actor, address }) => (
      <>
        {actor !== '' && <Actor id={actor} />}
        {address !== '' && <span className="small muted">{address}</span>}
      </>
    ),
  },
  { name: 'Key', cell: ({ key_id: id }) => id !== '' && <KeyName id={id} /> },
  { name: 'Detail', className: 'trail-detail', cell: toDetail },
];
const ENTRIES_AT_ONCE = 50;

/** The audit trail: changes and rejections of keys, and what else was done with them. */
export function Trail() {
  const pages = usePages<KeyEntry>('/api/keys/log', { size: ENTRIES_AT_ONCE, older: 'Load older entries' });
  return (
    <RowTable
      title="Audit trail"
      {...pages}
      rows={pages.rows?.toSorted(compareEntries)}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={['No entries', 'Created, changed and revoked keys appear here; rejections once a minute.']}
    />
  );
}

/** By their time: rejections are counted for a minute, and written after later changes. */
function compareEntries(a: KeyEntry, b: KeyEntry): number {
  return (b.at ?? '').localeCompare(a.at ?? '') || b.id - a.id;
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

/** Of a rejection `unknown from 192.0.2.1, 192.0.2.7` is `unknown key, from 192.0.2.1, 192.0.2.7`. */
function toDetail({ action, detail }: KeyEntry): string {
  if (action !== 'refused') return detail;
  const [reason = '', ...addresses] = detail.split(' from ');
  return [ownMember(REJECT_REASONS, reason) ?? reason, ...addresses].join(', from ');
}

function Actor({ id }: { readonly id: string }) {
  if (id === 'cli') return <span>The CLI </span>;
  if (id.includes('(person:')) return <span>{id.split(' (person:', 1)} </span>;
  return <KeyName id={id} />;
}
