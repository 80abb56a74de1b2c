import type { ReactNode } from 'react';
import type { KeyEntry, KeyView } from '../../../../src/management/view.ts';
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

interface TrailProps {
  readonly entries: Pages<KeyEntry>;
  /** Keys with known names. */
  readonly keys: readonly KeyView[];
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
export function Trail({ entries, keys, hidden }: TrailProps) {
  const zone = useZone();
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
              <Sentence entry={entry} keys={keys} />
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

interface SentenceProps {
  readonly entry: KeyEntry;
  readonly keys: readonly KeyView[];
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

/** An entry of the audit trail as a sentence. */
function Sentence({ entry, keys }: SentenceProps) {
  const zone = useZone();
  const { action, actor, address, key_id: id, detail, count } = entry;
  const who = <Actor id={actor} keys={keys} />;
  const key = <Key id={id} keys={keys} />;
  const granted = detail === '' ? '' : `: ${toZone(detail, zone)}`;
  const times = formatCount(count);
  const sentences: Readonly<Record<KeyEntry['action'], ReactNode>> = {
    created: (
      <>
        {who} created {key}
        {granted}
      </>
    ),
    changed: (
      <>
        {who} changed {key}, now with {toZone(detail, zone)}
      </>
    ),
    rotated: (
      <>
        {who} rotated {key} to <Key id={detail.replace('successor ', '')} keys={keys} />
      </>
    ),
    revoked: (
      <>
        {who} revoked {key}
      </>
    ),
    minted: (
      <>
        {key} signed {times} {count === 1 ? 'token' : 'tokens'}
      </>
    ),
    refused: (
      <>
        {times} {count === 1 ? 'request' : 'requests'}
        {id !== '' && <> with {key}</>} rejected: {describeRefusal(detail)}
      </>
    ),
    deleted: (
      <>
        {who} deleted {detail}
      </>
    ),
    silenced: (
      <>
        {who} silenced the alert {toZone(detail, zone)}
      </>
    ),
    unsilenced: (
      <>
        {who} ended a silence of the alert {detail}
      </>
    ),
    signed_in: (
      <>
        {who} signed in {detail}
      </>
    ),
    signed_out: <>{who} signed out</>,
    ended: (
      <>
        {who} ended the {detail}
      </>
    ),
    saved: (
      <>
        {who} saved the {describeSaved(detail)}
      </>
    ),
  };
  return (
    <span className="trail-text">
      {sentences[action]}
      {address !== '' && <span className="small muted"> from {address}</span>}
    </span>
  );
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

function Actor({ id, keys }: { readonly id: string; readonly keys: readonly KeyView[] }) {
  if (id === 'cli') return <>The CLI</>;
  if (id === 'private') return <>The environment’s private key</>;
  if (id.includes('(person:')) return <strong>{id.split(' (person:', 1)}</strong>;
  return <Key id={id} keys={keys} />;
}

function Key({ id, keys }: { readonly id: string; readonly keys: readonly KeyView[] }) {
  if (id === 'private' || id === 'public') return <>the environment’s {id} key</>;
  const name = keys.find((one) => one.id === id)?.name;
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
