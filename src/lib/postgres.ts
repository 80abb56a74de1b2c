import { Pool, type PoolConfig } from 'pg';

export type Row = Readonly<Record<string, unknown>>;

export type Query = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A PostgreSQL database, with a bound on everything: connections, the wait for one, and each statement. */
export interface Postgres {
  readonly query: Query;
  /** For looking whether it is there: on a connection of its own, which no load keeps busy, and with half the patience. */
  readonly look: Query;
  /** All that `work` writes is written at once, or nothing of it. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /**
   * Brings the tables of one part up to date, a step a version. Processes that start together do it one after another.
   *
   * @throws Error also when the tables are of a version beyond the last step
   */
  migrate(part: string, steps: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

// A statement that takes longer is a database in trouble, and waiting for it would bring whoever waits into the same.
const STATEMENT_MS_MAX = 2_000;
const CONNECT_MS_MAX = 2_000;
// Where the server is so far away that not even its own timeout is heard of.
const SILENCE_MS_MAX = 2_500;
const LOOK_MS_MAX = 1_000;
// A process that was stopped in the middle of a change holds up those of the others no longer than this.
const IDLE_IN_TRANSACTION_MS_MAX = 5_000;
// Others may be at their migrations meanwhile.
const MIGRATION_MS_MAX = 60_000;
// Any number that is ours: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
const MIGRATION_LOCK = 8_245_722_243;

/**
 * Nothing is connected before the first query.
 *
 * @param url `postgresql://…`; its faults are told by the first query
 * @param connectionsMax beside the one that looks
 */
export function openPostgres(url: string, connectionsMax: number): Postgres {
  const pool = openPool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: SILENCE_MS_MAX,
  });
  const lookout = openPool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: LOOK_MS_MAX,
    statement_timeout: LOOK_MS_MAX,
    query_timeout: LOOK_MS_MAX,
  });

  return {
    query: queryOf(pool),
    look: queryOf(lookout),
    transaction: (work) => transact(pool, work),
    async migrate(part, steps) {
      const patient = openPool({
        connectionString: url,
        max: 1,
        connectionTimeoutMillis: CONNECT_MS_MAX,
        statement_timeout: MIGRATION_MS_MAX,
        query_timeout: MIGRATION_MS_MAX,
      });
      try {
        await transact(patient, (query) => migrate(query, part, steps));
      } finally {
        await endPools(patient);
      }
    },
    close: () => endPools(pool, lookout),
  };
}

/** Says goodbye to the server; one that does not answer any more is left. */
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
    client.release(!isDone); // a connection that is closed undoes what it has begun, whatever state it is in
  }
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    application_name: 'tailrace',
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // A connection that ends while nobody uses it is replaced by the next query; unheard, its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function queryOf(runner: Pick<Pool, 'query'>): Query {
  return async (text, values = []) => (await runner.query<Row>(text, [...values])).rows;
}

async function migrate(query: Query, part: string, steps: readonly string[]): Promise<void> {
  await query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const version = await readVersion(query, part);
  if (version > steps.length) {
    throw new Error(
      `its tables of ${part} are of version ${version}, newer than this Tailrace (${steps.length}); update Tailrace`,
    );
  }
  if (version === steps.length) return; // so that an account that may not make tables can use those that are there
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

/** What went wrong, in one line: where a name has several addresses, the failure of each is hidden inside. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
