import { type ControlDatabase, createExecute, insert } from './database.ts';

/** A session of the console as it is stored: the hash of its secret, never the secret. Times are ms since the epoch. */
export interface SessionRecord {
  /** Public: names the session in lists. */
  readonly id: string;
  /** SHA-256 of the cookie's value, hexadecimal. */
  readonly hash: string;
  /** The `keyId` of its caller. */
  readonly owner: string;
  /** For lists and the audit trail. */
  readonly name: string;
  /** What the provider says of the person; `undefined`: the session of a key. */
  readonly claims: Claims | undefined;
  /** Fingerprint of the key; empty for a person. */
  readonly print: string;
  /** Hash of the `state` of its sign-in, which opens no second session; empty for a key. */
  readonly login: string;
  readonly createdMs: number;
  /** Up to a minute late. */
  readonly seenMs: number;
  readonly expiresMs: number;
  /** Address and user agent of the client that signed in. */
  readonly address: string;
  readonly agent: string;
}

/** Claims of an ID token and of the provider's user info: JSON. */
export type Claims = Readonly<Record<string, unknown>>;

const SESSIONS_PER_OWNER_MAX = 20; // a sign-in beyond it ends the oldest
const SESSIONS_LISTED_MAX = 1_000;

export type SessionStore = ReturnType<typeof createSessionStore>;

const COLUMNS = `id, owner, coalesce(login, '') AS login, record,
  created_ms AS "createdMs", seen_ms AS "seenMs", expires_ms AS "expiresMs"`;

/** Sessions in a control store. */
export function createSessionStore(database: Pick<ControlDatabase, 'run'>) {
  const execute = createExecute(database);
  const read = async (text: string, ...values: readonly (string | number)[]) =>
    (await execute<Row>(text, ...values)).map(toSession);
  return {
    /** Reads a session by its public id. */
    find: async (id: string) =>
      (await read(`SELECT ${COLUMNS} FROM tailrace_sessions WHERE id = $1`, id)).at(0),
    /** @returns whether it was added: a sign-in opens one session, even if it is finished twice */
    async add(session: SessionRecord): Promise<boolean> {
      const rest = 'ON CONFLICT DO NOTHING RETURNING id';
      const added = await database.run(insert('tailrace_sessions', [toRow(session)], rest));
      if (added.length === 0) return false;
      const text = `DELETE FROM tailrace_sessions WHERE owner = $1 AND id NOT IN (
        SELECT id FROM tailrace_sessions WHERE owner = $1
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_PER_OWNER_MAX})`;
      await execute(text, session.owner);
      return true;
    },
    /** Notes the last use. */
    async touch(id: string, seenMs: number): Promise<void> {
      await execute('UPDATE tailrace_sessions SET seen_ms = $2 WHERE id = $1 AND seen_ms < $2', id, seenMs);
    },
    /** Newest first, at most `SESSIONS_LISTED_MAX`. @param owner `undefined`: those of all */
    list(owner?: string): Promise<SessionRecord[]> {
      const text = `SELECT ${COLUMNS} FROM tailrace_sessions ${owner === undefined ? '' : 'WHERE owner = $1'}
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_LISTED_MAX}`;
      return read(text, ...(owner === undefined ? [] : [owner]));
    },
    /** @returns the session that has ended */
    end: async (id: string) =>
      (await read(`DELETE FROM tailrace_sessions WHERE id = $1 RETURNING ${COLUMNS}`, id)).at(0),
    /** Deletes sessions that expired or were last used before an instant. */
    async removeOld(nowMs: number, idleSinceMs: number): Promise<void> {
      const text = 'DELETE FROM tailrace_sessions WHERE expires_ms <= $1 OR seen_ms <= $2';
      await execute(text, nowMs, idleSinceMs);
    },
  };
}

function toRow({ id, owner, login, createdMs, seenMs, expiresMs, ...record }: SessionRecord) {
  const times = { created_ms: createdMs, seen_ms: seenMs, expires_ms: expiresMs };
  return { id, owner, login: login === '' ? null : login, ...times, record: JSON.stringify(record) };
}

type InColumns = 'id' | 'owner' | 'login' | 'createdMs' | 'seenMs' | 'expiresMs';
type Row = Pick<SessionRecord, InColumns> & { readonly record: string };

function toSession({ record, ...columns }: Row): SessionRecord {
  const stored = JSON.parse(record) as Omit<SessionRecord, InColumns | 'claims'>; // only toRow writes it
  return { claims: undefined, ...stored, ...columns };
}
