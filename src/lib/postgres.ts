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
// Other processes may be creating the tables meanwhile.
const SCHEMA_MS_MAX = 60_000;
// An arbitrary number: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
const SCHEMA_LOCK = 8_245_722_243;

export interface PostgresOptions {
  /** Beside the one for probes. */
  readonly connectionsMax: number;
  /** The version of the tables. */
  readonly version: number;
  /** The statements that create them. */
  readonly schema: readonly string[];
  /** The fault of tables of another version. */
  readonly describeOther: (version: number) => string;
}

/**
 * Opens a database and creates its tables, if there are none. Processes that start together do so one after another.
 *
 * @param url `postgresql://…`
 * @param start begins to use it; if that fails it is closed
 * @throws InputError if it cannot be used, or its tables have another version; TransientError if it is not up
 */
export async function openPostgres<T>(
  url: string,
  options: PostgresOptions,
  start: (postgres: Postgres) => T | Promise<T>,
): Promise<T> {
  let postgres: Postgres | undefined;
  try {
    postgres = connect(url, options.connectionsMax);
    await prepare(url, options);
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

async function prepare(url: string, options: PostgresOptions): Promise<void> {
  const pool = openPool(url, { statement_timeout: SCHEMA_MS_MAX, query_timeout: SCHEMA_MS_MAX });
  try {
    await transact(pool, (query) => createTables(query, options));
  } finally {
    await endPools(pool);
  }
}

async function createTables(
  query: Query,
  { version, schema, describeOther }: PostgresOptions,
): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  const found = await readVersion(query);
  if (found === version) return; // an account without the right to create tables can use existing ones
  if (found !== undefined) throw new Error(describeOther(found));
  await query('CREATE TABLE tailrace_schema (version bigint NOT NULL)');
  for (const statement of schema) await query(statement);
  await query('INSERT INTO tailrace_schema VALUES ($1)', [version]);
}

async function readVersion(query: Query): Promise<number | undefined> {
  const [found] = await query(`SELECT to_regclass('tailrace_schema') IS NOT NULL AS there`);
  if (found?.['there'] !== true) return undefined;
  const [row] = await query('SELECT max(version) AS version FROM tailrace_schema');
  return Number(row?.['version'] ?? 0);
}

/** The error in one line; if a host name has several addresses, that of the first. */
function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
