import { type ControlDatabase, insert, type Row, type Statement } from './database.ts';

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

/** Sessions of one owner, at most: a sign-in beyond it ends the oldest. */
const SESSIONS_PER_OWNER_MAX = 20;
/** Sessions in a list, at most. */
const SESSIONS_LISTED_MAX = 1_000;

export type SessionStore = ReturnType<typeof createSessionStore>;

/** Sessions in a control store. */
export function createSessionStore({ run }: Pick<ControlDatabase, 'run'>) {
  const deleteWhere = async (condition: string, values: Statement['values']) => {
    const text = `DELETE FROM tailrace_sessions WHERE ${condition} RETURNING *`;
    return (await run({ text, values })).map(toSession);
  };
  return {
    /** Reads a session by its public id. */
    async find(id: string): Promise<SessionRecord | undefined> {
      const text = 'SELECT * FROM tailrace_sessions WHERE id = $1';
      return (await run({ text, values: [id] })).map(toSession)[0];
    },
    /** @returns whether it was added: a sign-in opens one session, even if it is finished twice */
    async add(session: SessionRecord): Promise<boolean> {
      const added = await run(
        insert('tailrace_sessions', [toRow(session)], 'ON CONFLICT DO NOTHING RETURNING id'),
      );
      if (added.length === 0) return false;
      const newest = `SELECT id FROM tailrace_sessions WHERE owner = $1
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_PER_OWNER_MAX}`;
      await deleteWhere(`owner = $1 AND id NOT IN (${newest})`, [session.owner]);
      return true;
    },
    /** Notes the last use. */
    async touch(id: string, seenMs: number): Promise<void> {
      const text = 'UPDATE tailrace_sessions SET seen_ms = $2 WHERE id = $1 AND seen_ms < $2';
      await run({ text, values: [id, seenMs] });
    },
    /** Newest first, at most `SESSIONS_LISTED_MAX`. @param owner `undefined`: those of all */
    async list(owner?: string): Promise<SessionRecord[]> {
      const text = `SELECT * FROM tailrace_sessions ${owner === undefined ? '' : 'WHERE owner = $1'}
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_LISTED_MAX}`;
      return (await run({ text, values: owner === undefined ? [] : [owner] })).map(toSession);
    },
    /** @returns the session that has ended */
    end: async (id: string) => (await deleteWhere('id = $1', [id])).at(0),
    /** Deletes sessions that expired or were last used before an instant. */
    async removeOld(nowMs: number, idleSinceMs: number): Promise<void> {
      await deleteWhere('expires_ms <= $1 OR seen_ms <= $2', [nowMs, idleSinceMs]);
    },
  };
}

function toRow({ id, owner, login, createdMs, seenMs, expiresMs, ...record }: SessionRecord) {
  const times = { created_ms: createdMs, seen_ms: seenMs, expires_ms: expiresMs };
  return { id, owner, login: login === '' ? null : login, ...times, record: JSON.stringify(record) };
}

/** JSON has no member that is `undefined`. */
type Stored = Omit<SessionRecord, 'claims' | 'id' | 'owner' | 'login' | 'createdMs' | 'seenMs' | 'expiresMs'>;

function toSession(row: Row): SessionRecord {
  return {
    ...{ claims: undefined, ...(JSON.parse(String(row['record'])) as Stored) }, // only toRow writes it
    id: String(row['id']),
    owner: String(row['owner']),
    login: row['login'] === null ? '' : String(row['login']),
    createdMs: Number(row['created_ms']),
    seenMs: Number(row['seen_ms']),
    expiresMs: Number(row['expires_ms']),
  };
}
