import type { ReactNode } from 'react';
import type { KeyEntry, KeyView } from '../../../../src/management/view.ts';
import { formatCount } from '../../format/number.ts';
import { ownMember } from '../../format/own.ts';
import { formatTime, type Zone, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';

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
export function Sentence({ entry, keys }: SentenceProps) {
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
