import type { Config } from '../config/config.ts';
import { type RejectReason, TailraceError } from '../errors.ts';
import { remember } from '../lib/single-flight.ts';
import type { Rate } from '../lib/token-bucket.ts';
import type { ControlStore } from './control-store.ts';
import type { Grant, KeyRecord, Scope } from './grant.ts';
import { findKeyId, hashKey, isWithinReach, SCOPES, sameHash } from './grant.ts';
import { createTally, type Tally } from './known-keys.ts';
import { createManagement } from './management.ts';
import {
  isTokenGrant,
  looksLikeToken,
  type SignedToken,
  type TokenGrant,
  type Tokens,
  type Unreadable,
} from './token.ts';

/** The rights of an accepted key, signed token or person. */
export interface Caller extends Grant {
  /** For logs: the key's id, the name of its environment variable, or `person:` and a hash that only this person has. */
  readonly keyId: string;
  /** The signed token of that key: its id, and its own rate beside the key's. */
  readonly token?: { readonly id: string; readonly rate: Rate | undefined };
  readonly person?: Person;
  /** Id of the session by which a browser identifies it. */
  readonly session?: string;
  /**
   * Set if a browser sends what identifies it by itself, in a cookie or through a proxy that signs in: pages of other
   * origins could use it.
   */
  readonly isAmbient?: true;
  /** Address of the client, for the audit trail. */
  readonly address?: string;
}

/** A caller that has signed in without a key. */
export interface Person {
  /** Printable, at most 200 characters. */
  readonly name: string;
  readonly role: string | undefined;
  /** Pins with several values, of which a request chooses one by the parameter of this name. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** Why the person has no rights. */
  readonly denied: string | undefined;
}

/** A key that has signed in: its id, and a fingerprint of its hash. */
export interface HeldKey {
  readonly keyId: string;
  readonly print: string;
}

export type Keyring = ReturnType<typeof createKeyring>;

export interface KeyringOptions extends Pick<Config, 'privateKey' | 'publicKey'> {
  /** The key of the commands on this machine. Default: none. */
  readonly localKey?: string | undefined;
  readonly store: ControlStore;
  readonly tokens: Tokens;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** The id of the caller with TAILRACE_PRIVATE_KEY. */
const PRIVATE_KEY_ID = 'private';
/** The id of the caller with the key of the commands on this machine. */
export const LOCAL_KEY_ID = 'cli';
/** Headers of every 401 (RFC 9110, 15.5.2). */
const CHALLENGE = { 'www-authenticate': 'Bearer realm="tailrace"' };

export function unauthorized(message: string, rejectReason: RejectReason): TailraceError {
  return new TailraceError('unauthorized', message, { headers: CHALLENGE, rejectReason });
}

/** Keys of the environment and of the control store (spec 5). For when a change applies see src/keys/control-store.ts. */
export function createKeyring(options: KeyringOptions) {
  const { store, tokens, now } = options;
  const environment = environmentKeys(options);
  const tally = createTally(store, now);
  const { check, getHolder, resume } = createChecks(options, environment, tally);
  /** Returns what a session keeps of an accepted key. */
  const hold = async ({ keyId }: Pick<Caller, 'keyId'>): Promise<HeldKey> => {
    const { hash } = await getHolder(keyId, { address: '', sent: 'key' });
    return { keyId, print: tokens.print(hash) };
  };
  return {
    ...createManagement(store, now),
    /**
     * Checks a key or a signed token; a token is valid as long as its key is, and never has more rights than its key. A
     * promise only if the control store has to be read, or the signature of a token to be verified.
     *
     * Rejects with TailraceError `unauthorized` and the reason: missing, unknown, revoked, expired; or with the control
     * store's failure.
     *
     * @param address of the client, for the audit trail
     */
    authenticate: (text: string | undefined, address?: string) => orRejected(() => check(text, address)),
    /**
     * Mints a signed token for an accepted key.
     *
     * @param grant no wider than the caller's, which the calling code has to check
     */
    async mint(caller: Caller, { expiresMs, ...grant }: TokenGrant): Promise<{ token: string; id: string }> {
      const { print: parentPrint } = await hold(caller);
      tally.minted(caller.keyId);
      return await tokens.mint({ parent: caller.keyId, parentPrint, expiresMs, grant });
    },
    hold,
    /** Returns the present caller of a key that has signed in. Rejects as `authenticate`. */
    resume: (held: HeldKey, address?: string) => orRejected(() => resume(held, address)),
    find: store.readKey,
    list: store.listKeys,
    /** The audit trail, newest first. */
    log: store.listEntries,
    countRejected: tally.countRejected,
    /** Writes the counted uses and rejections; for a task. */
    flush: tally.flush,
    /**
     * Whether any key can read an endpoint: one of the environment, or one in the store that is neither revoked nor
     * expired.
     */
    async hasUsableKey(): Promise<boolean> {
      const isSet = ({ caller }: Holder) => canQuery(caller) && caller.keyId !== LOCAL_KEY_ID;
      if (environment.some(isSet)) return true;
      return (await store.listKeys()).some((key) => canQuery(key) && findFault(key, now()) === undefined);
    },
  };
}

/** Callers get each failure in one way, although most results are there at once. */
export function orRejected<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The checks of keys and tokens. Each throws TailraceError `unauthorized`, which is counted. */
function createChecks({ store, tokens, now }: KeyringOptions, environment: readonly Holder[], tally: Tally) {
  function reject(reason: Reason, keyId: string, { address, sent }: Sender): TailraceError {
    tally.countRejected(keyId, reason, address);
    return unauthorized(describeRejection(reason, sent), reason);
  }

  /** @throws TailraceError `unauthorized` if there is no such key, or it is revoked or expired */
  function getUsable(record: KeyRecord | undefined, sender: Sender): KeyRecord {
    if (record === undefined) throw reject('unknown', '', sender);
    const fault = findFault(record, now());
    if (fault !== undefined) throw reject(fault, record.id, sender);
    return record;
  }

  function acceptKey(record: KeyRecord | undefined, hash: Uint8Array, sender: Sender): Caller {
    if (record !== undefined && !sameHash(record.hash, hash)) throw reject('unknown', record.id, sender);
    const usable = getUsable(record, sender);
    tally.lastUsed.set(usable.id, now());
    return toCaller(usable);
  }

  /** Finds the present caller of the key with this id, and the key's hash. */
  function getHolder(keyId: string, sender: Sender): Holder | Promise<Holder> {
    const found = environment.find(({ caller }) => caller.keyId === keyId);
    if (found !== undefined) return found;
    return andThen(store.findKey(keyId), (record) => {
      const usable = getUsable(record, sender);
      return { caller: toCaller(usable), hash: usable.hash };
    });
  }

  function checkToken(token: SignedToken | Unreadable, address: string): Caller | Promise<Caller> {
    if ('reason' in token) throw reject(token.reason, '', { address, sent: 'token' });
    const holder = getHolder(token.parent, { address, sent: 'key of the token' });
    return andThen(holder, (found) => acceptToken(token, found, { address, sent: 'token' }));
  }

  function acceptToken(token: SignedToken, { caller, hash }: Holder, sender: Sender): Caller {
    const { keyId } = caller;
    if (token.parentPrint !== tokens.print(hash)) throw reject('unknown', keyId, sender);
    const { grant } = token;
    if (!isTokenGrant(grant)) throw reject('unknown', keyId, sender);
    // The key may do less than when it signed the token.
    if (isWithinReach(grant, caller) !== undefined) throw reject('wider', keyId, sender);
    tally.lastUsed.set(keyId, now());
    const { rate, ...reach } = grant;
    return { ...reach, keyId, rate: caller.rate, token: { id: token.id, rate } };
  }

  function check(text = '', address = ''): Caller | Promise<Caller> {
    const sender: Sender = { address, sent: 'key' };
    if (text === '') throw reject('missing', '', sender);
    const hash = hashKey(text);
    const own = environment.find((entry) => sameHash(entry.hash, hash));
    if (own !== undefined) return own.caller;
    const id = findKeyId(text);
    if (id === undefined && looksLikeToken(text))
      return andThen(tokens.read(text), (token) => checkToken(token, address));
    const found = id === undefined ? undefined : store.findKey(id);
    return andThen(found, (record) => acceptKey(record, hash, sender));
  }

  // A session asks with every request, and a fingerprint costs as much as the rest of its check.
  const printOf = remember(tokens.print);

  function resume({ keyId, print }: HeldKey, address = ''): Caller | Promise<Caller> {
    const sender: Sender = { address, sent: 'key of the session' };
    return andThen(getHolder(keyId, sender), ({ caller, hash }) => {
      if (print !== printOf(hash)) throw reject('unknown', keyId, sender);
      tally.lastUsed.set(keyId, now());
      return caller;
    });
  }

  return { check, getHolder, resume };
}

/** Goes on at once if it can: a request with a known key has to wait for nothing. */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

type Reason = Extract<RejectReason, 'missing' | 'unknown' | 'revoked' | 'expired' | 'wider'>;

/** For messages and the audit trail: the address of the client, and what it has sent that is not accepted. */
interface Sender {
  readonly address: string;
  readonly sent: 'key' | 'token' | 'key of the token' | 'key of the session';
}

const REASONS = {
  unknown: 'is not known',
  revoked: 'has been revoked',
  expired: 'has expired',
  wider: 'has rights that its key has lost since',
} as const satisfies Partial<Record<RejectReason, string>>;

function describeRejection(reason: Reason, sent: Sender['sent']): string {
  if (reason === 'missing') return 'a key is required: send it as X-API-KEY or as Authorization: Bearer';
  return `the ${sent} ${REASONS[reason]}${sent === 'token' ? '; request a new token' : ''}`;
}

interface Holder {
  readonly caller: Caller;
  readonly hash: Uint8Array;
}

/**
 * Creates the callers of the environment's keys. Only scopes limit them: an operator who sets the environment may do
 * everything anyway.
 */
function environmentKeys({ privateKey, publicKey, localKey = '' }: KeyringOptions): readonly Holder[] {
  const keys: readonly { secret: string; caller: Caller }[] = [
    { secret: privateKey, caller: { keyId: PRIVATE_KEY_ID, scopes: SCOPES, pins: {} } },
    { secret: publicKey, caller: { keyId: 'public', scopes: ['ingest'], pins: {} } },
    { secret: localKey, caller: { keyId: LOCAL_KEY_ID, scopes: SCOPES, pins: {} } },
  ];
  return keys
    .filter(({ secret }) => secret !== '')
    .map(({ secret, caller }) => ({ caller, hash: hashKey(secret) }));
}

/** Returns why a key of the store is no longer accepted; `undefined` if it is. */
function findFault({ revokedMs, expiresMs }: KeyRecord, nowMs: number): 'revoked' | 'expired' | undefined {
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs !== undefined && expiresMs <= nowMs ? 'expired' : undefined;
}

function toCaller({ id, scopes, endpoints, sources, pins, rate, expiresMs }: KeyRecord): Caller {
  return { keyId: id, scopes, endpoints, sources, pins, rate, expiresMs };
}

function canQuery({ scopes }: Grant): boolean {
  return scopes.includes('query');
}

/** @throws TailraceError `forbidden` naming the scope that the key lacks: it must have one of them */
export function requireScope(caller: Caller, ...scopes: readonly Scope[]): void {
  if (scopes.some((scope) => caller.scopes.includes(scope))) return;
  if (caller.person?.denied !== undefined)
    throw new TailraceError('forbidden', caller.person.denied, { rejectReason: 'scope' });
  const wanted = scopes.map((scope) => `"${scope}"`).join(' or ');
  const holder =
    caller.person !== undefined ? 'your role' : caller.token !== undefined ? 'the token' : 'the key';
  throw new TailraceError(
    'forbidden',
    `${holder} lacks the scope ${wanted}; it has ${caller.scopes.join(', ') || 'none'}`,
    { rejectReason: 'scope' },
  );
}
