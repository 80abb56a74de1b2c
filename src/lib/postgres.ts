import { Pool, type PoolConfig } from 'pg';
import { toStartError } from './system-failure.ts';

export type Row = Readonly<Record<string, unknown>>;

export type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A PostgreSQL database with bounded connections, waits and statements. */
export interface Postgres {
  readonly query: Query;
  /** For health probes: uses a separate connection, which no load keeps busy, with half the timeout. */
  readonly probe: Query;
  /** Keeps all writes of `work`, or none. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

// A slower statement means that the database is in trouble; waiting longer would only pile up requests here.
const STATEMENT_MS_MAX = 2_000;
const CONNECT_MS_MAX = 2_000;
// For a server whose own statement timeout does not get through either.
const SILENCE_MS_MAX = 2_500;
const PROBE_MS_MAX = 1_000;
// A process that stops in the middle of a change blocks those of others no longer than this.
const IDLE_IN_TRANSACTION_MS_MAX = 5_000;
// Other processes may be migrating meanwhile.
const MIGRATION_MS_MAX = 60_000;
// An arbitrary number: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
const MIGRATION_LOCK = 8_245_722_243;

export interface PostgresOptions {
  /** Beside the one for probes. */
  readonly connectionsMax: number;
  /** Names a set of tables, which has its own version. */
  readonly part: string;
  /** Creates and changes these tables, one step per version. */
  readonly steps: readonly string[];
}

/**
 * Opens a database and migrates the tables of one part. Processes that start together migrate one after another.
 *
 * @param url `postgresql://…`
 * @param start begins to use it; if that fails it is closed
 * @throws InputError if it cannot be used, or its tables have a version beyond the last step; TransientError if it is not up
 */
export async function openPostgres<T>(
  url: string,
  { connectionsMax, part, steps }: PostgresOptions,
  start: (postgres: Postgres) => T | Promise<T>,
): Promise<T> {
  let postgres: Postgres | undefined;
  try {
    postgres = connect(url, connectionsMax);
    await migrate(url, part, steps);
    return await start(postgres);
  } catch (error) {
    await postgres?.close();
    throw toStartError(`TAILRACE_CONTROL_URL: cannot be used: ${describeFailure(error)}`, error);
  }
}

/** Connects with the first query, which a wrong URL fails. */
function connect(url: string, connectionsMax: number): Postgres {
  const pool = openPool(url, {
    max: connectionsMax,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: SILENCE_MS_MAX,
  });
  const probing = openPool(url, {
    connectionTimeoutMillis: PROBE_MS_MAX,
    statement_timeout: PROBE_MS_MAX,
    query_timeout: PROBE_MS_MAX,
  });

  return {
    query: queryOf(pool),
    probe: queryOf(probing),
    transaction: (work) => transact(pool, work),
    close: () => endPools(pool, probing),
  };
}

/** Closes the connections; a server that does not respond is abandoned after `CONNECT_MS_MAX`. */
async function endPools(...pools: readonly Pool[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CONNECT_MS_MAX);
  await Promise.race([Promise.all(pools.map((pool) => pool.end())), late.promise]);
  clearTimeout(timer);
}

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

function openPool(url: string, config: PoolConfig): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    ...config,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    application_name: 'tailrace',
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // The next query replaces an idle connection that has ended. Without a listener its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function queryOf(runner: Pick<Pool, 'query'>): Query {
  return async (text, values = []) => (await runner.query<Row>(text, [...values])).rows;
}

async function migrate(url: string, part: string, steps: readonly string[]): Promise<void> {
  const timeouts = { statement_timeout: MIGRATION_MS_MAX, query_timeout: MIGRATION_MS_MAX };
  const migrating = openPool(url, timeouts);
  try {
    await transact(migrating, (query) => runSteps(query, part, steps));
  } finally {
    await endPools(migrating);
  }
}

async function runSteps(query: Query, part: string, steps: readonly string[]): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const version = await readVersion(query, part);
  if (version > steps.length) {
    throw new Error(
      `its tables of ${part} are of version ${version}, newer than this Tailrace (${steps.length}); update Tailrace`,
    );
  }
  if (version === steps.length) return; // an account without the right to create tables can use existing ones
  await query('CREATE TABLE IF NOT EXISTS tailrace_schema (part text PRIMARY KEY, version integer NOT NULL)');
  for (const step of steps.slice(version)) await query(step);
  await query(
    `INSERT INTO tailrace_schema VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version`,
    [part, steps.length],
  );
}

async function readVersion(query: Query, part: string): Promise<number> {
  const [found] = await query(`SELECT to_regclass('tailrace_schema') IS NOT NULL AS there`);
  if (found?.['there'] !== true) return 0;
  const [row] = await query('SELECT version FROM tailrace_schema WHERE part = $1', [part]);
  return Number(row?.['version'] ?? 0);
}

/** The error in one line; if a host name has several addresses, that of the first. */
function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
