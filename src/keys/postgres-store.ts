import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type PoolConfig, types } from 'pg';
import { InputError, messageOf, TailraceError } from '../errors.ts';
import { toStartError } from '../lib/system-failure.ts';
import { type ControlStore, createControlStore } from './control-store.ts';
import {
  CONTROL_VERSION,
  COUNT_CHANGES,
  createSchema,
  describeOtherVersion,
  findOne,
  type Row,
  type Statement,
  toChangeCount,
  toStorable,
} from './database.ts';
import { type KeyRecord, toRecord } from './grant.ts';
import { createKnown, openChangeWatch } from './known-keys.ts';

interface PostgresStoreOptions {
  readonly staleMs: number;
  readonly onState: (failure?: unknown) => void;
  /** Monotonic ms. */
  readonly ticks?: () => number;
}

// With a probe every 500 ms two may be late or lost; a change elsewhere then still acts within 2 s.
const FRESH_MS = 1_500;
const RECORDS_MAX = 10_000; // about 6 MB
// If more keys change between two probes, as when keys are copied, all are invalidated.
const CHANGED_MAX = 1_000;
const CONNECTIONS_MAX = 4; // and one for probes
// A slower statement means that the database is in trouble; waiting longer would only pile up requests here.
const STATEMENT_MS_MAX = 2_000;
const CONNECT_MS_MAX = 2_000;
// For a server whose own statement timeout does not get through either.
const SILENCE_MS_MAX = 2_500;
const PROBE_MS_MAX = 1_000;
// A process that stops in the middle of a change blocks those of others no longer than this.
const IDLE_IN_TRANSACTION_MS_MAX = 5_000;
// Other processes may be creating the tables meanwhile.
const SCHEMA_MS_MAX = 60_000;
// An arbitrary number: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
const SCHEMA_LOCK = 8_245_722_243;

types.setTypeParser(types.builtins.INT8, Number); // as SQLite; it would return texts

/**
 * Opens the control store in a PostgreSQL database that any number of processes may share.
 * @throws InputError or TransientError as `openControlStore`; never with the password
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<ControlStore> {
  const limits = { max: CONNECTIONS_MAX, statement_timeout: STATEMENT_MS_MAX, query_timeout: SILENCE_MS_MAX };
  // Probes have their own pool: no load keeps its connection busy.
  const probes = {
    connectionTimeoutMillis: PROBE_MS_MAX,
    statement_timeout: PROBE_MS_MAX,
    query_timeout: PROBE_MS_MAX,
  };
  const [pool, probing] = [openPool(url, limits), openPool(url, probes)];
  try {
    await createMissingTables(url);
    return await openWatched(pool, probing, options);
  } catch (error) {
    await endPools(pool, probing);
    throw toStartError(`TAILRACE_CONTROL_URL: cannot be used: ${messageOf(error)}`, error);
  }
}

async function openWatched(
  pool: Pool,
  probing: Pool,
  { staleMs, onState, ticks = () => performance.now() }: PostgresStoreOptions,
): Promise<ControlStore> {
  const [query, probe] = [queryOf(pool), queryOf(probing)];
  const known = createKnown<KeyRecord>({
    read: async (id) => (await run(findOne(id))).map(toRecord)[0],
    ...{ freshMs: FRESH_MS, staleMs, max: RECORDS_MAX, ticks },
    ageMs: () => watch.ageMs(),
    isDown: () => watch.isDown(),
  });
  const watch = await openChangeWatch({
    probe: async () => toChangeCount(await runOn(probe, COUNT_CHANGES)),
    invalidate: async (since) =>
      known.forget(since === undefined ? undefined : await listChanged(probe, since)),
    onState,
    ticks,
  });

  /** Fails at once while the store is down: the query would only time out, and the probe detects when it is back. */
  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    if (watch.isDown()) throw unavailable();
    try {
      return await work();
    } catch (error) {
      throw error instanceof TailraceError || error instanceof InputError ? error : unavailable(error);
    }
  }

  const run = (statement: Statement) => guarded(() => runOn(query, statement));
  return createControlStore({
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    run,
    transact: (reads, decide, { isDurable = true } = {}) =>
      guarded(() =>
        transact(pool, async (within) => {
          if (!isDurable) await within('SET LOCAL synchronous_commit TO off');
          const found = [];
          for (const statement of reads) found.push(await runOn(within, statement));
          const { statements, result } = decide(found);
          for (const statement of statements) await runOn(within, statement);
          return result;
        }),
      ),
    findKey: known.find,
    forget: known.forget,
    isUp: () => !watch.isDown(),
    async close() {
      await watch.close();
      await endPools(pool, probing);
    },
  });
}

function runOn(query: Query, { text, values }: Statement) {
  return query(text, values.map(toStorable));
}

function unavailable(cause?: unknown): TailraceError {
  const message = 'the control store does not respond, so keys cannot be read or changed; try again';
  return new TailraceError('engine_unavailable', message, { cause });
}

/** Returns the ids of keys changed after `since`; `undefined` if there are too many. */
async function listChanged(query: Query, since: number): Promise<string[] | undefined> {
  const text = 'SELECT id FROM tailrace_keys WHERE change > $1 LIMIT $2';
  const rows = await query(text, [since, CHANGED_MAX + 1]);
  return rows.length > CHANGED_MAX ? undefined : rows.map(({ id }) => String(id));
}

type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Closes the connections; a server that does not respond is abandoned after `CONNECT_MS_MAX`. */
async function endPools(...pools: readonly Pool[]): Promise<void> {
  const ended = Promise.all(pools.map((pool) => pool.end()));
  await Promise.race([ended, delay(CONNECT_MS_MAX, undefined, { ref: false })]);
}

/** Keeps all writes of `work`, or none. */
async function transact<T>(pool: Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query('BEGIN');
    const result = await work(queryOf(client));
    await client.query('COMMIT');
    isDone = true;
    return result;
  } finally {
    client.release(!isDone); // closing the connection rolls back in any state
  }
}

/** Connects with the first query, which a wrong URL fails. Connections, waits and statements are bounded. */
function openPool(url: string, config: PoolConfig): Pool {
  const pool = new Pool({
    ...{ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_MS_MAX, ...config },
    ...{ application_name: 'tailrace', keepAlive: true, allowExitOnIdle: true },
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
  });
  // The next query replaces an idle connection that has ended. Without a listener its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function queryOf(runner: Pick<Pool, 'query'>): Query {
  return async (text, values = []) => (await runner.query<Row>(text, [...values])).rows;
}

/** Creates the tables, if there are none. Processes that start together do so one after another. */
async function createMissingTables(url: string): Promise<void> {
  const pool = openPool(url, { statement_timeout: SCHEMA_MS_MAX, query_timeout: SCHEMA_MS_MAX });
  try {
    await transact(pool, createTables);
  } finally {
    await endPools(pool);
  }
}

async function createTables(query: Query): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  const [found] = await query(`SELECT to_regclass('tailrace_schema') IS NOT NULL AS there`);
  if (found?.['there'] === true) {
    const [row] = await query('SELECT max(version) AS version FROM tailrace_schema');
    const version = Number(row?.['version'] ?? 0);
    if (version === CONTROL_VERSION) return; // an account without the right to create tables can use existing ones
    throw new Error(describeOtherVersion('its tables are', version));
  }
  await query('CREATE TABLE tailrace_schema (version bigint NOT NULL)');
  for (const statement of createSchema('postgres')) await query(statement);
  await query('INSERT INTO tailrace_schema VALUES ($1)', [CONTROL_VERSION]);
}
