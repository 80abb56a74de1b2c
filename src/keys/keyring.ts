import { type Refusal, TailraceError } from '../errors.ts';
import type { Rate } from '../lib/token-bucket.ts';
import type { AuditPage, StoredEntry } from './audit-entry.ts';
import type { ControlStore, KeyPage } from './control-store.ts';
import { type Grant, isWithinReach, SCOPES, type Scope } from './grant.ts';
import type { KeyRecord } from './key-record.ts';
import { createManagement, type KeyManagement } from './management.ts';
import { findKeyId, hashKey, sameHash } from './secret.ts';
import { createTally } from './tally.ts';
import type { Tokens } from './token.ts';
import { parseTokenGrant, type TokenGrant } from './token-grant.ts';

/** The sender of a request whose key or signed token was accepted. */
export interface Caller extends Grant {
  /** For logs: the key's id, or the name of its environment variable. */
  readonly keyId: string;
  /** Set for a signed token of that key: the token's id, and its own rate beside the key's. */
  readonly token?: { readonly id: string; readonly rate: Rate | undefined };
}

export interface Keyring extends KeyManagement {
  /**
   * @throws TailraceError `unauthorized` saying why: missing, unknown, revoked, expired; what the control store fails with
   *   where it has to be asked
   */
  authenticate(key: string | undefined): Promise<Caller>;
  /**
   * The same at once and without an error: `undefined` where the key is not accepted, which then is not counted either, or
   * where the control store would have to be asked.
   */
  findCaller(key: string): Caller | undefined;
  /**
   * The same for a signed token, which is valid as long as its key and never has more rights.
   *
   * @throws TailraceError `unauthorized`
   */
  authenticateToken(token: string): Promise<Caller>;
  /**
   * Mints a signed token for an accepted key.
   *
   * @param grant no wider than the caller's, which is not checked here
   */
  mint(caller: Caller, grant: TokenGrant): Promise<{ token: string; id: string }>;
  find(id: string): Promise<KeyRecord | undefined>;
  /** Newest first; all of them without a page. */
  list(page?: KeyPage): Promise<KeyRecord[]>;
  /** The audit trail, newest first. */
  log(page: AuditPage): Promise<StoredEntry[]>;
  /** Counts a refusal of an accepted key. */
  refused(keyId: string, reason: Refusal): void;
  /** Writes the counted uses and refusals; for a timer. */
  flush(): Promise<void>;
  /** Whether any key can read an endpoint: one of the environment, or one in the store that is neither revoked nor expired. */
  hasUsableKey(): Promise<boolean>;
}

export interface KeyringOptions {
  readonly store: ControlStore;
  /** Empty if not set. */
  readonly privateKey: string;
  readonly publicKey: string;
  readonly tokens: Tokens;
  readonly now: () => number;
}

const HEADERS = { 'www-authenticate': 'Bearer realm="tailrace"' };

/** Keys of the environment and of the control store (spec 5). For when a change applies see src/keys/control-store.ts. */
export function createKeyring(options: KeyringOptions): Keyring {
  const { store, tokens, now } = options;
  const environment = environmentKeys(options);
  const tally = createTally(store);
  const read = createKeyReader(environment);

  function refuse(reason: keyof typeof REFUSED, keyId = ''): TailraceError {
    tally.refused(keyId, reason, now());
    return new TailraceError('unauthorized', REFUSED[reason], { headers: HEADERS, refusal: reason });
  }

  /** @throws TailraceError `unauthorized` if the key is unknown, revoked or expired */
  function getUsable(record: KeyRecord | undefined): KeyRecord {
    if (record === undefined) throw refuse('unknown');
    const fault = findFault(record, now());
    if (fault !== undefined) throw refuse(fault, record.id);
    return record;
  }

  function accept(record: KeyRecord): Caller {
    tally.used(record.id, now());
    return toCaller(record);
  }

  /** The caller and hash of the present key of this id. */
  async function getHolder(keyId: string): Promise<{ caller: Caller; hash: Uint8Array }> {
    const found = environment.find(({ caller }) => caller.keyId === keyId);
    if (found !== undefined) return found;
    const record = getUsable(await store.findKey(keyId));
    return { caller: toCaller(record), hash: record.hash };
  }

  return {
    ...createManagement(store, now),
    async authenticateToken(text) {
      const token = await tokens.read(text);
      if ('reason' in token) throw refuse(token.reason);
      const { caller, hash } = await getHolder(token.parent);
      if (token.parentPrint !== tokens.print(hash)) throw refuse('unknown', caller.keyId);
      const grant = parseTokenGrant(token.grant);
      if (grant === undefined) throw refuse('unknown', caller.keyId);
      // The key may have lost rights since it minted the token.
      if (isWithinReach(grant, caller) !== undefined) throw refuse('wider', caller.keyId);
      tally.used(caller.keyId, now());
      const { rate, ...reach } = grant;
      return { ...reach, keyId: caller.keyId, rate: caller.rate, token: { id: token.id, rate } };
    },
    async mint(caller, grant) {
      const { expiresMs, ...rest } = grant;
      const parentPrint = tokens.print((await getHolder(caller.keyId)).hash);
      tally.minted(caller.keyId, now());
      return await tokens.mint({ parent: caller.keyId, parentPrint, expiresMs, grant: rest });
    },
    async authenticate(key) {
      if (key === undefined || key === '') throw refuse('missing');
      const { hash, id, caller } = read(key);
      if (caller !== undefined) return caller;
      const record = id === undefined ? undefined : await store.findKey(id);
      if (record !== undefined && !sameHash(record.hash, hash)) throw refuse('unknown', record.id);
      return accept(getUsable(record));
    },
    findCaller(key) {
      const { hash, id, caller } = read(key);
      if (caller !== undefined || id === undefined) return caller;
      const record = store.peekKey(id);
      if (typeof record === 'string' || !sameHash(record.hash, hash)) return undefined;
      return findFault(record, now()) === undefined ? accept(record) : undefined;
    },
    find: (id) => store.readKey(id),
    list: (page) => store.listKeys(page),
    log: (page) => store.listEntries(page),
    refused: (keyId, reason) => tally.refused(keyId, reason, now()),
    flush: tally.flush,
    async hasUsableKey() {
      if (environment.some(({ caller }) => canQuery(caller))) return true;
      return (await store.listKeys()).some((key) => canQuery(key) && findFault(key, now()) === undefined);
    },
  };
}

const REFUSED = {
  missing: 'a key is required: send it as X-API-KEY or as Authorization: Bearer',
  unknown: 'the key is not known',
  revoked: 'the key has been revoked',
  expired: 'the key has expired',
  wider: 'the token has rights that its key has lost since; request a new token',
} as const satisfies Partial<Record<Refusal, string>>;

/** They are limited by their scopes only: whoever sets the environment can do everything anyway. */
function environmentKeys({ privateKey, publicKey }: KeyringOptions) {
  const keys: readonly { secret: string; caller: Caller }[] = [
    { secret: privateKey, caller: { keyId: 'private', scopes: SCOPES, pins: {} } },
    { secret: publicKey, caller: { keyId: 'public', scopes: ['ingest'], pins: {} } },
  ];
  return keys
    .filter(({ secret }) => secret !== '')
    .map(({ secret, caller }) => ({ caller, hash: hashKey(secret) }));
}

/** Parses a key's text: its hash, and the caller if it is a key of the environment or else its id in the store. */
function createKeyReader(environment: ReturnType<typeof environmentKeys>) {
  return (key: string): { hash: Uint8Array; id?: string | undefined; caller?: Caller } => {
    const hash = hashKey(key);
    const found = environment.find((entry) => sameHash(entry.hash, hash));
    return found === undefined ? { hash, id: findKeyId(key) } : { hash, caller: found.caller };
  };
}

/** Why a stored key is invalid; `undefined` if it is valid. */
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
  const wanted = scopes.map((scope) => `"${scope}"`).join(' or ');
  throw new TailraceError(
    'forbidden',
    `the key lacks the scope ${wanted}; it has ${caller.scopes.join(', ') || 'none'}`,
    { refusal: 'scope' },
  );
}
