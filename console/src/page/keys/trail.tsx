import { Fragment, type ReactNode } from 'react';
import type { KeyEntry } from '../../../../src/management/view.ts';
import type { Pages } from '../../api/queries.ts';
import { formatCount } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { formatTime, type Zone, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { Empty, ErrorNote } from '../../ui/note.tsx';
import { Panel } from '../../ui/panel.tsx';
import { LoadMore } from '../../ui/table/panel-table.tsx';
import { Tag, type Tone } from '../../ui/tag.tsx';
import { Ago } from '../../ui/time/time-control.tsx';
import { useKeyNames } from '../admin/key-name.tsx';

interface TrailProps {
  readonly entries: Pages<KeyEntry>;
  /** Whether the caller's key has no right to see it. */
  readonly hidden: boolean;
}

const TONES: Readonly<Record<KeyEntry['action'], Tone>> = {
  created: 'ok',
  changed: 'accent',
  rotated: 'accent',
  revoked: 'warn',
  minted: 'neutral',
  refused: 'bad',
  deleted: 'warn',
  saved: 'accent',
  silenced: 'warn',
  unsilenced: 'ok',
  signed_in: 'ok',
  signed_out: 'neutral',
  ended: 'warn',
};
const LABELS: Readonly<Partial<Record<KeyEntry['action'], string>>> = {
  minted: 'tokens',
  signed_in: 'signed in',
  signed_out: 'signed out',
};

/** The audit trail: changes and rejections of keys. */
export function Trail({ entries, hidden }: TrailProps) {
  const zone = useZone();
  const names = useKeyNames();
  const { items, error, hasMore, busy, loadMore } = entries;
  const nowMs = Date.now();
  const label = (action: KeyEntry['action']) => LABELS[action] ?? action;
  return (
    <Panel title="Audit trail" flush>
      {hidden && (
        <Empty title="This key may not see the audit trail">
          It lists actions on all keys, and yours is limited to endpoints, sources or pinned values.
        </Empty>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      {items?.length === 0 && (
        <Empty title="No entries">
          Created, changed and revoked keys appear here; refusals once a minute.
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul className="trail">
          {items.toSorted(compareEntries).map((entry) => (
            <li key={entry.id}>
              <span className="trail-time small number">
                {entry.at !== null && formatTime(Date.parse(entry.at), zone)}
                <span className="muted">{entry.at !== null && <Ago iso={entry.at} nowMs={nowMs} />}</span>
              </span>
              <span>
                <Tag tone={TONES[entry.action]}>{label(entry.action)}</Tag>
              </span>
              <Sentence {...{ entry, names }} />
            </li>
          ))}
        </ul>
      )}
      {hasMore && <LoadMore label="Load older entries" busy={busy} onLoad={loadMore} />}
    </Panel>
  );
}

/** By their time: rejections are counted for a minute, and written after later changes. */
function compareEntries(a: KeyEntry, b: KeyEntry): number {
  return (b.at ?? '').localeCompare(a.at ?? '') || b.id - a.id;
}

/** The reasons of rejected requests (docs/keys.md, audit trail). */
export const REFUSALS: Readonly<Record<string, string>> = {
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

/** What is said of each action: WHO did it, to which KEY, how often, and the detail as `toDetail` writes it. */
const SENTENCES: Readonly<Record<KeyEntry['action'], string>> = {
  created: 'WHO created KEY: DETAIL',
  changed: 'WHO changed KEY, now with DETAIL',
  rotated: 'WHO rotated KEY to DETAIL',
  revoked: 'WHO revoked KEY',
  minted: 'KEY signed tokens, TIMES in all',
  refused: 'Requests with KEY rejected, TIMES in all: DETAIL',
  deleted: 'WHO deleted DETAIL',
  silenced: 'WHO silenced the alert DETAIL',
  unsilenced: 'WHO ended a silence of the alert DETAIL',
  signed_in: 'WHO signed in DETAIL',
  signed_out: 'WHO signed out',
  ended: 'WHO ended the DETAIL',
  saved: 'WHO saved the DETAIL',
};

/** An entry of the audit trail as a sentence. */
function Sentence({
  entry,
  names,
}: {
  readonly entry: KeyEntry;
  readonly names: ReadonlyMap<string, string>;
}) {
  const zone = useZone();
  const { action, actor, address, key_id: id, count } = entry;
  const key = <Actor id={id} names={names} />;
  const parts: Readonly<Record<string, ReactNode>> = {
    WHO: <Actor id={actor} names={names} />,
    KEY: id === '' ? 'no valid key' : key,
    TIMES: formatCount(count),
    DETAIL: toDetail(entry, zone),
  };
  return (
    <span className="trail-text">
      {SENTENCES[action].split(/\b(WHO|KEY|TIMES|DETAIL)\b/).map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
        <Fragment key={i}>{ownMember(parts, part) ?? part}</Fragment>
      ))}
      {address !== '' && <span className="small muted"> from {address}</span>}
    </span>
  );
}

function toDetail({ action, detail }: KeyEntry, zone: Zone): string {
  if (action === 'refused') return describeRefusal(detail);
  if (action === 'saved') return describeSaved(detail);
  return toZone(detail.replace(/^successor /, ''), zone);
}

/** `logs.all 2f…` is an endpoint, and `alert failing.paths 2f…` an alert: names have no spaces. */
function describeSaved(detail: string): string {
  const words = detail.split(' ');
  return words.length > 2 ? `alert ${words[1]}` : `endpoint ${words[0]}`;
}

/** `unknown from 192.0.2.1, 192.0.2.7` is `unknown key, from 192.0.2.1, 192.0.2.7`. */
function describeRefusal(detail: string): string {
  const [reason = '', ...addresses] = detail.split(' from ');
  return [ownMember(REFUSALS, reason) ?? reason, ...addresses].join(', from ');
}

function Actor({ id, names }: { readonly id: string; readonly names: ReadonlyMap<string, string> }) {
  if (id === 'cli') return 'The CLI';
  if (id === 'private' || id === 'public') return `The environment’s ${id} key`;
  if (id.includes('(person:')) return <strong>{id.split(' (person:', 1)}</strong>;
  const name = names.get(id);
  return (
    <>
      {name !== undefined && <strong>{name} </strong>}
      <code className="small muted">{id}</code>
    </>
  );
}

/** The text of a grant ends with `until …`, in UTC. */
function toZone(detail: string, zone: Zone): string {
  return detail.replace(/\buntil (\S+Z)$/, (text, iso: string) => {
    const ms = Date.parse(iso);
    return Number.isNaN(ms) ? text : `until ${formatTime(ms, zone)} ${zoneName(zone)}`;
  });
}
