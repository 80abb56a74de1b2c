import { TailraceError } from '../errors.ts';
import type { Rate } from '../lib/token-bucket.ts';
import type { ControlStore, KeyRecord } from './control-store.ts';
import { SCOPES, type Scope } from './scope.ts';
import { createSecret, findKeyId, hashKey, sameHash } from './secret.ts';

/** Whoever stands behind an accepted key. */
export interface Caller {
  /** For logs: the key's id, or the name of its environment variable. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Parameters that the key fixes, by name. */
  readonly pins: Readonly<Record<string, string>>;
  /** How many requests it may send; without it the settings' default. */
  readonly rate?: Rate;
}

export interface Keyring {
  /** @throws TailraceError `unauthorized` saying why: missing, unknown, revoked, expired */
  authenticate(key: string | undefined): Caller;
  /** Makes a key and returns it; this is the only time that it can be seen. */
  create(options: { name: string; scopes: readonly Scope[]; expiresMs?: number }): {
    id: string;
    key: string;
  };
  revoke(id: string): boolean;
  list(): KeyRecord[];
  /** Whether anyone could read an endpoint: with a key of the environment, or one in the store neither revoked nor expired. */
  hasUsableKey(): boolean;
}

export interface KeyringOptions {
  readonly store: ControlStore;
  /** Empty where the environment gives none. */
  readonly privateKey: string;
  readonly publicKey: string;
  readonly now: () => number;
}

const HEADERS = { 'www-authenticate': 'Bearer realm="tailrace"' };

/** Keys of the environment and of the control store (spec 5). Every look-up reads the store, so a change acts at once. */
export function createKeyring({ store, privateKey, publicKey, now }: KeyringOptions): Keyring {
  const environment = [
    { keyId: 'private', secret: privateKey, scopes: SCOPES, pins: {} },
    { keyId: 'public', secret: publicKey, scopes: ['ingest'] as const, pins: {} },
  ]
    .filter((entry) => entry.secret !== '')
    .map(({ secret, ...caller }) => ({ caller, hash: hashKey(secret) }));

  const isExpired = (record: KeyRecord) => record.expiresMs !== undefined && record.expiresMs <= now();

  return {
    authenticate(key) {
      if (key === undefined || key === '') {
        throw refuse('a key is required: send it as X-API-KEY or as Authorization: Bearer');
      }
      const hash = hashKey(key);
      const found = environment.find((entry) => sameHash(entry.hash, hash));
      if (found !== undefined) return found.caller;
      const id = findKeyId(key);
      const record = id === undefined ? undefined : store.findKey(id);
      if (record === undefined || !sameHash(record.hash, hash)) throw refuse('the key is not known');
      if (record.revokedMs !== undefined) throw refuse('the key has been revoked');
      if (isExpired(record)) throw refuse('the key has expired');
      return { keyId: record.id, scopes: record.scopes, pins: {} };
    },
    create({ name, scopes, expiresMs }) {
      const { key, id, hash } = createSecret();
      store.addKey({ id, name, hash, scopes, createdMs: now(), expiresMs, revokedMs: undefined });
      return { id, key };
    },
    revoke: (id) => store.revokeKey(id, now()),
    list: () => store.listKeys(),
    hasUsableKey() {
      return (
        environment.some(({ caller }) => canQuery(caller)) ||
        store.listKeys().some((key) => canQuery(key) && key.revokedMs === undefined && !isExpired(key))
      );
    },
  };
}

function canQuery({ scopes }: { readonly scopes: readonly Scope[] }): boolean {
  return scopes.includes('query');
}

function refuse(message: string): TailraceError {
  return new TailraceError('unauthorized', message, { headers: HEADERS });
}

/** @throws TailraceError `forbidden` naming the scope that the key lacks */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new TailraceError(
    'forbidden',
    `the key lacks the scope "${scope}"; it has ${caller.scopes.join(', ') || 'none'}`,
  );
}
