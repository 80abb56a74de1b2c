import { InputError, TailraceError } from '../errors.ts';
import { openPostgres, type Postgres, type Query } from '../lib/postgres.ts';
import { createPostgresAlerts } from './alerts/postgres-alerts.ts';
import { createAuditCopy } from './audit/audit-copy.ts';
import {
  type AuditEntry,
  type AuditPage,
  ENTRIES_MAX,
  type StoredEntry,
  TRIM_EVERY,
  toAuditRow,
  toEntry,
} from './audit/audit-entry.ts';
import { type ChangeWatch, openChangeWatch } from './change-watch.ts';
import type { Activity, Change, ControlStore, KeyPage } from './control-store.ts';
import { CHANGEABLE, type KeyRecord, toRecord, toRow } from './key-record.ts';
import { createKnownKeys } from './known-keys.ts';
import { MIGRATIONS } from './postgres-migrations.ts';
import { createSessionStore } from './sessions/session-store.ts';
import type { Statement } from './statement.ts';

export interface PostgresStoreOptions {
  readonly staleMs: number;
  readonly onState: (failure?: unknown) => void;
  /** Monotonic ms. */
  readonly ticks?: () => number;
}

// If more keys change between two probes, as when keys are copied, all are invalidated.
const CHANGED_MAX = 1_000;
const CONNECTIONS_MAX = 4; // and one for probes
const LOCK_MS_MAX = 500;
// Other texts are not sent: PostgreSQL rejects some of them, such as a NUL.
const ID = /^[0-9a-f]{12}$/;

/**
 * Opens the control store in a PostgreSQL database that any number of processes may share.
 *
 * @throws InputError if it cannot be used, or was written by a newer version, TransientError if it is not up; never with the password
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<ControlStore> {
  const { staleMs, onState, ticks = () => performance.now() } = options;
  const database = { connectionsMax: CONNECTIONS_MAX, part: 'keys', steps: MIGRATIONS };
  return await openPostgres(url, database, (postgres) => openWatched(postgres, { staleMs, onState, ticks }));
}

async function openWatched(
  postgres: Postgres,
  { staleMs, onState, ticks }: Required<PostgresStoreOptions>,
): Promise<ControlStore> {
  const known = createKnownKeys({ read, watch: () => watch, staleMs });
  const watch: ChangeWatch = await openChangeWatch({
    probe: () => countChanges(postgres.probe),
    invalidate: async (since) =>
      known.forget(since === undefined ? undefined : await listChanged(postgres.probe, since)),
    onState,
    ticks,
  });

  async function read(id: string): Promise<KeyRecord | undefined> {
    return (await findAll(ask, [id])).get(id);
  }

  /** Fails at once while the store is down: the query would only time out, and the probe detects when it is back. */
  async function ask(...query: Parameters<Query>) {
    if (watch.isDown()) throw unavailable();
    return await orUnavailable(() => postgres.query(...query));
  }

  const askFor = ({ text, values }: Statement) => ask(text, values);

  async function transact<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (watch.isDown()) throw unavailable();
    return await orUnavailable(() => postgres.transaction(work));
  }

  return {
    findKey: (id) => known.find(id),
    readKey: read,
    listKeys: (page) => listKeys(ask, page),
    listEntries: (page) => listEntries(ask, page),
    async change(ids, decide) {
      let touched = ids;
      try {
        return await transact(async (query) => {
          // Locked until the end: changes are serialised, as in SQLite.
          const count = await countChanges(query, 'FOR UPDATE');
          const found = await findAll(query, ids);
          const change = decide((id) => found.get(id));
          touched = [...ids, ...(change.add ?? []).map(({ id }) => id)];
          await write(query, change, count + 1);
          return change.result;
        });
      } finally {
        known.forget(touched); // even if the outcome of the write is unknown
      }
    },
    record: (activity) => transact((query) => writeActivity(query, activity)),
    alerts: createPostgresAlerts({ ask, transact }),
    sessions: createSessionStore(askFor),
    auditCopy: createAuditCopy({
      run: askFor,
      runAlone: ({ text, values }) =>
        transact(async (query) => {
          // Other writers queue behind a lock that waits, and would fail if it waited for as long as they may.
          await query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
          await query('LOCK TABLE tailrace_audit IN SHARE MODE');
          return await query(text, values);
        }),
    }),
    isUp: () => !watch.isDown(),
    async close() {
      await watch.close();
      await postgres.close();
    },
  };
}

/** Maps every failure other than a rejection to `engine_unavailable`. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TailraceError || error instanceof InputError ? error : unavailable(error);
  }
}

function unavailable(cause?: unknown): TailraceError {
  const message = 'the control store does not respond, so keys cannot be read or changed; try again';
  return new TailraceError('engine_unavailable', message, { cause });
}

/** @throws Error if the row is missing: without it no change would ever be detected */
async function countChanges(query: Query, lock = ''): Promise<number> {
  const [row] = await query(`SELECT count FROM tailrace_changes ${lock}`);
  if (row === undefined) throw new Error('the table tailrace_changes has lost its row');
  return Number(row['count']);
}

async function findAll(query: Query, ids: readonly string[]): Promise<Map<string, KeyRecord>> {
  const possible = ids.filter((id) => ID.test(id));
  if (possible.length === 0) return new Map();
  const rows = await query('SELECT * FROM tailrace_keys WHERE id = ANY($1)', [possible]);
  return new Map(rows.map(toRecord).map((record) => [record.id, record]));
}

async function listKeys(query: Query, page?: KeyPage): Promise<KeyRecord[]> {
  const { before = '', limit = null } = page ?? {};
  if (before !== '' && !ID.test(before)) return [];
  const rows = await query(
    `SELECT * FROM tailrace_keys
      WHERE $1 = '' OR (created_ms, id) < (SELECT created_ms, id FROM tailrace_keys WHERE id = $1)
      ORDER BY created_ms DESC, id DESC LIMIT $2`,
    [before, limit],
  );
  return rows.map(toRecord);
}

async function listEntries(
  query: Query,
  { limit, before = Number.MAX_SAFE_INTEGER }: AuditPage,
): Promise<StoredEntry[]> {
  const sql = 'SELECT * FROM tailrace_audit WHERE id < $1 ORDER BY id DESC LIMIT $2';
  return (await query(sql, [before, limit])).map(toEntry);
}

/** Returns the ids of keys changed after `since`; `undefined` if there are too many. */
async function listChanged(query: Query, since: number): Promise<string[] | undefined> {
  const sql = 'SELECT id FROM tailrace_keys WHERE change > $1 LIMIT $2';
  const rows = await query(sql, [since, CHANGED_MAX + 1]);
  return rows.length > CHANGED_MAX ? undefined : rows.map(({ id }) => String(id));
}

/** @param number the last change's number plus one */
async function write(query: Query, change: Change<unknown>, number: number): Promise<void> {
  const { add = [], update, entries = [] } = change;
  if (add.length > 0) {
    const rows = add.map((record) => ({ ...toRow(record), hash: toHex(record.hash), change: number }));
    const sql = 'INSERT INTO tailrace_keys SELECT * FROM json_populate_recordset(null::tailrace_keys, $1)';
    await query(sql, [JSON.stringify(rows)]);
  }
  if (update !== undefined) {
    const row = toRow(update);
    const assignments = CHANGEABLE.map((column, i) => `${column} = $${i + 3}`).join(', ');
    const values = [update.id, number, ...CHANGEABLE.map((column) => row[column])];
    await query(`UPDATE tailrace_keys SET change = $2, ${assignments} WHERE id = $1`, values);
  }
  await addEntries(query, entries);
  if (add.length > 0 || update !== undefined) await query('UPDATE tailrace_changes SET count = $1', [number]);
}

/** Writes bytes in PostgreSQL's text format. */
function toHex(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

async function writeActivity(query: Query, { used, entries }: Activity): Promise<void> {
  if (used.length > 0) {
    // All processes lock in the same order, or two concurrent writes could deadlock.
    const ids = used.map(([id]) => id);
    await query('SELECT FROM tailrace_keys WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);
    await query(
      `UPDATE tailrace_keys SET last_used_ms = greatest(last_used_ms, at_ms)
        FROM json_to_recordset($1) AS used (id text, at_ms bigint) WHERE tailrace_keys.id = used.id`,
      [JSON.stringify(used.map(([id, atMs]) => ({ id, at_ms: atMs })))],
    );
  }
  await addEntries(query, entries);
}

/** Adds entries and trims each kind to the newest `ENTRIES_MAX`. */
async function addEntries(query: Query, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const ids = await query(
    `INSERT INTO tailrace_audit (at_ms, action, key_id, actor, detail, count, address)
      SELECT at_ms, action, key_id, actor, detail, count, address
      FROM json_populate_recordset(null::tailrace_audit, $1) RETURNING id`,
    [JSON.stringify(entries.map(toAuditRow))],
  );
  if (!ids.some(({ id }) => Number(id) % TRIM_EVERY === 0)) return;
  for (const refused of [false, true]) {
    await query(
      `DELETE FROM tailrace_audit WHERE (action = 'refused') = $1 AND id <=
        (SELECT id FROM tailrace_audit WHERE (action = 'refused') = $1 ORDER BY id DESC LIMIT 1 OFFSET ${ENTRIES_MAX})`,
      [refused],
    );
  }
}
