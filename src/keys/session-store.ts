import { type ControlDatabase, insert, type Statement } from './database.ts';

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

/** Sessions in a control store. */
export interface SessionStore {
  /** Reads a session by its public id. */
  find(id: string): Promise<SessionRecord | undefined>;
  /** @returns whether it was added: a sign-in opens one session, even if it is finished twice */
  add(session: SessionRecord): Promise<boolean>;
  /** Notes the last use. */
  touch(id: string, seenMs: number): Promise<void>;
  /** Newest first, at most `SESSIONS_LISTED_MAX`. @param owner `undefined`: those of all */
  list(owner?: string): Promise<SessionRecord[]>;
  /** @returns the session that has ended */
  end(id: string): Promise<SessionRecord | undefined>;
  /** Deletes sessions that expired or were last used before an instant. */
  removeOld(nowMs: number, idleSinceMs: number): Promise<void>;
}

export function createSessionStore({ run }: Pick<ControlDatabase, 'run'>): SessionStore {
  const deleteWhere = async (condition: string, values: Statement['values']) => {
    const text = `DELETE FROM tailrace_sessions WHERE ${condition} RETURNING *`;
    return (await run({ text, values })).map(toSession);
  };
  return {
    async find(id) {
      const [row] = await run({ text: 'SELECT * FROM tailrace_sessions WHERE id = $1', values: [id] });
      return row === undefined ? undefined : toSession(row);
    },
    async add(session) {
      const added = await run(
        insert('tailrace_sessions', [toRow(session)], 'ON CONFLICT DO NOTHING RETURNING id'),
      );
      if (added.length === 0) return false;
      const newest = `SELECT id FROM tailrace_sessions WHERE owner = $1
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_PER_OWNER_MAX}`;
      await deleteWhere(`owner = $1 AND id NOT IN (${newest})`, [session.owner]);
      return true;
    },
    async touch(id, seenMs) {
      const text = 'UPDATE tailrace_sessions SET seen_ms = $2 WHERE id = $1 AND seen_ms < $2';
      await run({ text, values: [id, seenMs] });
    },
    async list(owner) {
      const text = `SELECT * FROM tailrace_sessions ${owner === undefined ? '' : 'WHERE owner = $1'}
        ORDER BY created_ms DESC, id DESC LIMIT ${SESSIONS_LISTED_MAX}`;
      return (await run({ text, values: owner === undefined ? [] : [owner] })).map(toSession);
    },
    end: async (id) => (await deleteWhere('id = $1', [id]))[0],
    async removeOld(nowMs, idleSinceMs) {
      await deleteWhere('expires_ms <= $1 OR seen_ms <= $2', [nowMs, idleSinceMs]);
    },
  };
}

function toRow(session: SessionRecord) {
  const { id, hash, owner, name, claims, print, login, createdMs, seenMs, expiresMs, address, agent } =
    session;
  return {
    ...{ id, hash, owner, name, print, address, agent },
    claims: claims === undefined ? '' : JSON.stringify(claims),
    login: login === '' ? null : login,
    ...{ created_ms: createdMs, seen_ms: seenMs, expires_ms: expiresMs },
  };
}

function toSession(row: Readonly<Record<string, unknown>>): SessionRecord {
  const claims = String(row['claims']);
  return {
    id: String(row['id']),
    hash: String(row['hash']),
    owner: String(row['owner']),
    name: String(row['name']),
    claims: claims === '' ? undefined : (JSON.parse(claims) as Claims), // only toRow writes it
    print: String(row['print']),
    login: row['login'] === null ? '' : String(row['login']),
    createdMs: Number(row['created_ms']),
    seenMs: Number(row['seen_ms']),
    expiresMs: Number(row['expires_ms']),
    address: String(row['address']),
    agent: String(row['agent']),
  };
}
