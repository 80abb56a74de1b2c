import type { Static } from 'typebox';
import type { Registry } from '../definitions/registry.ts';
import { InputError, invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import { actorOf } from '../keys/audit.ts';
import type { KeyPage } from '../keys/control-store.ts';
import {
  checkAgainst,
  checkGrant,
  findFault,
  type Grant,
  isListed,
  isNarrower,
  isUnrestricted,
  isWithinReach,
  type KeyRecord,
} from '../keys/grant.ts';
import type { Caller, Keyring } from '../keys/keyring.ts';
import { type KeyChangeBody, type NewKeyBody, type ROTATION, toChange, toKeyView } from './key-view.ts';
import type { CreatedKeyView, KeyView } from './view.ts';

// Management of keys by callers with the scope `manage`. A caller sees only keys without rights beyond its own, and
// cannot create others.

export interface KeyParts {
  readonly keyring: Keyring;
  readonly registry: Registry;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** The states by which keys are listed: neither revoked nor expired, the others, all. */
export const KEY_STATES = ['active', 'ended', 'all'] as const;

interface Id {
  readonly id: string;
}

const OVERLAP_SECONDS = 7 * 86_400;

/** @throws TailraceError `invalid_request` with every fault of the grant; `forbidden` if it is wider than the caller's */
export async function createKey(parts: KeyParts, caller: Caller, body: NewKeyBody): Promise<CreatedKeyView> {
  const { name, scopes } = body;
  const fields = { ...toChange(body, parts.now()), name: name.trim(), scopes };
  requireNarrower(parts, caller, { pins: {}, ...fields });
  const { key, record } = await reportInput(() => parts.keyring.create(fields, checkedActor(caller)));
  return { key, ...toKeyView(record) };
}

/** Lists keys that the caller may know of, newest first. */
export async function listKeys(
  { keyring, now }: KeyParts,
  caller: Caller,
  { state, ...page }: KeyPage & { readonly state: (typeof KEY_STATES)[number] },
): Promise<{ result: KeyView[] }> {
  const nowMs = now();
  const hasState = (key: KeyRecord) =>
    state === 'all' || (findFault(key, nowMs) !== undefined) === (state === 'ended');
  const isShown = (key: KeyRecord) => hasState(key) && isWithinReach(key, caller) === undefined;
  return { result: (await readPage(keyring, isShown, page)).map(toKeyView) };
}

/** @throws TailraceError `not_found`, even if the key exists but the caller may not know of it */
export async function readKey({ keyring }: KeyParts, caller: Caller, { id }: Id): Promise<KeyView> {
  const record = await keyring.find(id);
  if (record === undefined) throw notFound(id);
  requireReach(record, caller);
  return toKeyView(record);
}

/** @throws TailraceError as `createKey`, `not_found`, and `invalid_request` for a revoked key */
export async function changeKey(
  parts: KeyParts,
  caller: Caller,
  { id, ...body }: Id & KeyChangeBody,
): Promise<KeyView> {
  const change = toChange(body, parts.now());
  const actor = checkedActor(caller, (key) => requireNarrower(parts, caller, { ...key, ...change }));
  const changed = await reportInput(() => parts.keyring.update(id, change, actor));
  if (changed === undefined) throw notFound(id);
  return toKeyView(changed);
}

/** @throws TailraceError `not_found` */
export async function revokeKey(parts: KeyParts, caller: Caller, key: Id): Promise<KeyView> {
  await parts.keyring.revoke(key.id, checkedActor(caller));
  return await readKey(parts, caller, key);
}

/**
 * @throws TailraceError `not_found`, `forbidden` if the key is wider than the caller's, `invalid_request` if it has
 * ended
 */
export async function rotateKey(
  { keyring }: KeyParts,
  caller: Caller,
  { id, overlap_seconds: overlapSeconds = OVERLAP_SECONDS }: Id & Static<typeof ROTATION>,
): Promise<CreatedKeyView> {
  const actor = checkedActor(caller, (key) => rejectWider(isNarrower(key, caller)));
  const successor = await reportInput(() => keyring.rotate(id, overlapSeconds * 1000, actor));
  if (successor === undefined) throw notFound(id);
  return { key: successor.key, ...toKeyView(successor.record) };
}

/**
 * Checks a caller for actions on all keys or all events.
 * @param action what the key cannot do, such as `read the trail of all keys`
 * @throws TailraceError `forbidden`
 */
export function requireUnrestricted(caller: Caller, action: string): void {
  if (isUnrestricted(caller)) return;
  const message = `a key that is limited to endpoints, sources or pinned values cannot ${action}`;
  throw new TailraceError('forbidden', message, { rejectReason: 'wider' });
}

/** Returns whether a caller may know of the key of an id: all, or the newest within its limits; revoked ones included. */
export async function createIsKnown(
  { keyring }: KeyParts,
  caller: Caller,
): Promise<(keyId: string | undefined) => boolean> {
  if (isUnrestricted(caller)) return () => true;
  const isShown = (key: KeyRecord) => isWithinReach(key, caller) === undefined;
  const keys = await readPage(keyring, isShown, { limit: KNOWN_MAX });
  const ids = new Set<string | undefined>(keys.map(({ id }) => id));
  return (keyId) => ids.has(keyId);
}

/** Returns the actor with a check, which the keyring runs on the present key within the transaction that changes it. */
function checkedActor(caller: Caller, check: (key: KeyRecord) => void = () => {}) {
  return {
    ...actorOf(caller),
    check(key: KeyRecord) {
      requireReach(key, caller);
      check(key);
    },
  };
}

function requireNarrower({ registry }: KeyParts, caller: Caller, grant: Grant): void {
  const faults = findGrantFaults(registry, caller, grant);
  if (faults.length > 0) throw invalidRequest(faults);
  rejectWider(isNarrower(grant, caller));
}

/**
 * Finds the faults of a grant that a caller gives. Names beyond its own lists are not looked up: the rejection of a
 * wider grant names none.
 */
export function findGrantFaults(registry: Registry, caller: Caller, grant: Grant): ParameterFault[] {
  const own = checkGrant(grant);
  const { endpoints, sources } = caller;
  const lists = { scopes: [], pins: {}, endpoints, sources };
  if (isWithinReach({ ...grant, scopes: [], pins: {} }, lists) !== undefined) return own;
  const known = {
    endpoints: registry.endpoints.filter((one) => isListed(endpoints, one)),
    sources: registry.sources.filter((one) => isListed(sources, one)),
  };
  return [...own, ...checkAgainst(known, grant)];
}

function rejectWider(reason: string | undefined): void {
  if (reason === undefined) return;
  const message = `a key cannot give more than it has: ${reason}`;
  throw new TailraceError('forbidden', message, { rejectReason: 'wider' });
}

// Keys that are read at once.
const CHUNK = 1_000;
const KNOWN_MAX = 10_000;

/** Reads until the page is full, however many keys in between are not shown. */
async function readPage(
  keyring: Keyring,
  isShown: (key: KeyRecord) => boolean,
  { limit, before }: KeyPage,
): Promise<KeyRecord[]> {
  const shown: KeyRecord[] = [];
  let last = before;
  do {
    const keys = await keyring.list({ limit: CHUNK, ...(last !== undefined && { before: last }) });
    shown.push(...keys.filter(isShown));
    last = keys.length < CHUNK ? undefined : keys.at(-1)?.id;
  } while (last !== undefined && shown.length < limit);
  return shown.slice(0, limit);
}

/** Maps an InputError of the keyring, such as a revoked key, to a fault of the request. */
async function reportInput<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputError) throw new TailraceError('invalid_request', error.message);
    throw error;
  }
}

function requireReach(key: KeyRecord, caller: Caller): void {
  if (isWithinReach(key, caller) !== undefined) throw notFound(key.id);
}

function notFound(id: string): TailraceError {
  return new TailraceError('not_found', `no key has the id ${JSON.stringify(id.slice(0, 100))}`);
}
