import type { Config } from '../config/config.ts';
import { type RejectReason, TailraceError } from '../errors.ts';
import { remember } from '../lib/single-flight.ts';
import type { Rate } from '../lib/token-bucket.ts';
import type { ControlStore } from './control-store.ts';
import type { Grant, KeyRecord, Scope } from './grant.ts';
import { findFault, findKeyId, hashKey, isWithinReach, SCOPES, sameHash } from './grant.ts';
import { createTally, type Tally } from './known-keys.ts';
import { createManagement } from './management.ts';
import { isTokenGrant, looksLikeToken, type ReadToken, type TokenGrant, type Tokens } from './token.ts';

/** The rights of an accepted key, signed token or person. */
export interface Caller extends Grant {
  /** For logs: the key's id, the name of its environment variable, or `person:` and a hash that only this person has. */
  readonly keyId: string;
  /** The signed token of that key: its id, and its own rate beside the key's. */
  readonly token?: { readonly id: string; readonly rate: Rate | undefined };
  readonly person?: Person;
  /** Id of the session by which a browser identifies it. */
  readonly session?: string;
  /** A browser sends what identifies it by itself, in a cookie or through a proxy: pages of other origins could use it. */
  readonly isAmbient?: true;
  /** Address of the client, for the audit trail. */
  readonly address?: string;
}

/** A caller that has signed in without a key. */
interface Person {
  /** Printable, at most 200 characters. */
  readonly name: string;
  readonly role: string | undefined;
  /** Pins with several values, of which a request chooses one by the parameter of this name. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** Why the person has no rights. */
  readonly denied: string | undefined;
}

/** A key that has signed in: its id, and a fingerprint of its hash. */
interface HeldKey {
  readonly keyId: string;
  readonly print: string;
}

export type Keyring = ReturnType<typeof createKeyring>;

interface KeyringOptions extends Pick<Config, 'privateKey' | 'publicKey'> {
  /** The key of the commands on this machine. Default: none. */
  readonly localKey?: string | undefined;
  readonly store: ControlStore;
  readonly tokens: Tokens;
  /** ms since the epoch. */
  readonly now: () => number;
}

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
     * promise only if the control store has to be read, or the signature of a token to be verified. Rejects with
     * TailraceError `unauthorized`, or the control store's failure. `address`: of the client, for the audit trail.
     */
    authenticate: (text: string | undefined, address?: string) => orRejected(() => check(text, address)),
    /** Mints a signed token for an accepted key. The calling code has to check that its grant is no wider. */
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
    /** Whether any key can read an endpoint: one of the environment, or one in the store that has not ended. */
    async hasUsableKey(): Promise<boolean> {
      const canQuery = ({ scopes }: Grant) => scopes.includes('query');
      if (environment.some(({ caller }) => canQuery(caller) && caller.keyId !== LOCAL_KEY_ID)) return true;
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
  function reject(reason: keyof typeof REASONS, keyId: string, { address, sent }: Sender): TailraceError {
    tally.countRejected(keyId, reason, address);
    return unauthorized(
      `the ${sent} ${REASONS[reason]}${sent === 'token' ? '; request a new token' : ''}`,
      reason,
    );
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

  function checkToken(token: ReadToken, address: string): Caller | Promise<Caller> {
    const sender: Sender = { address, sent: 'token' };
    if ('reason' in token) throw reject(token.reason, '', sender);
    const { id, parent, parentPrint, grant } = token;
    return andThen(getHolder(parent, { address, sent: 'key of the token' }), ({ caller, hash }): Caller => {
      const { keyId } = caller;
      if (parentPrint !== tokens.print(hash) || !isTokenGrant(grant)) throw reject('unknown', keyId, sender);
      // The key may do less than when it signed the token.
      if (isWithinReach(grant, caller) !== undefined) throw reject('wider', keyId, sender);
      tally.lastUsed.set(keyId, now());
      const { rate, ...reach } = grant;
      return { ...reach, keyId, rate: caller.rate, token: { id, rate } };
    });
  }

  function check(text = '', address = ''): Caller | Promise<Caller> {
    const sender: Sender = { address, sent: 'key' };
    if (text === '') {
      tally.countRejected('', 'missing', address);
      throw unauthorized('a key is required: send it as X-API-KEY or as Authorization: Bearer', 'missing');
    }
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

interface Holder {
  readonly caller: Caller;
  readonly hash: Uint8Array;
}

/** Creates the callers of the environment's keys. Only scopes limit them: who sets the environment may do everything. */
function environmentKeys({ privateKey, publicKey, localKey = '' }: KeyringOptions): readonly Holder[] {
  const keys: readonly (readonly [secret: string, keyId: string, scopes: readonly Scope[]])[] = [
    [privateKey, 'private', SCOPES],
    [publicKey, 'public', ['ingest']],
    [localKey, LOCAL_KEY_ID, SCOPES],
  ];
  return keys
    .filter(([secret]) => secret !== '')
    .map(([secret, keyId, scopes]) => ({ caller: { keyId, scopes, pins: {} }, hash: hashKey(secret) }));
}

function toCaller({ id, scopes, endpoints, sources, pins, rate, expiresMs }: KeyRecord): Caller {
  return { keyId: id, scopes, endpoints, sources, pins, rate, expiresMs };
}

/** @throws TailraceError `forbidden` naming the scope that the key lacks: it must have one of them */
export function requireScope(caller: Caller, ...scopes: readonly Scope[]): void {
  const { scopes: own, person, token } = caller;
  if (scopes.some((scope) => own.includes(scope))) return;
  const wanted = scopes.map((scope) => `"${scope}"`).join(' or ');
  const holder = person !== undefined ? 'your role' : token !== undefined ? 'the token' : 'the key';
  const message = `${holder} lacks the scope ${wanted}; it has ${own.join(', ') || 'none'}`;
  throw new TailraceError('forbidden', person?.denied ?? message, { rejectReason: 'scope' });
}
