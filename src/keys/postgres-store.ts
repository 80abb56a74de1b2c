import { InputError, TailraceError } from '../errors.ts';
import { openPostgres, type Postgres, type Query } from '../lib/postgres.ts';
import { type ControlStore, createControlStore } from './control-store.ts';
import {
  COUNT_CHANGES,
  type ControlDatabase,
  findOne,
  type Statement,
  toChangeCount,
  toStorable,
} from './database.ts';
import { toRecord } from './key-record.ts';
import { createKnownKeys, openChangeWatch } from './known-keys.ts';
import { CONTROL_VERSION, createSchema, describeOtherVersion } from './schema.ts';

export interface PostgresStoreOptions {
  readonly staleMs: number;
  readonly onState: (failure?: unknown) => void;
  /** Monotonic ms. */
  readonly ticks?: () => number;
}

// If more keys change between two probes, as when keys are copied, all are invalidated.
const CHANGED_MAX = 1_000;
const CONNECTIONS_MAX = 4; // and one for probes

/**
 * Opens the control store in a PostgreSQL database that any number of processes may share.
 *
 * @throws InputError if it cannot be used, or was written by another version, TransientError if it is not up; never
 * with the password
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<ControlStore> {
  const { staleMs, onState, ticks = () => performance.now() } = options;
  const database = {
    connectionsMax: CONNECTIONS_MAX,
    version: CONTROL_VERSION,
    schema: createSchema('postgres'),
    describeOther: (version: number) => describeOtherVersion('its tables are', version),
  };
  return await openPostgres(url, database, (postgres) => openWatched(postgres, { staleMs, onState, ticks }));
}

async function openWatched(
  postgres: Postgres,
  { staleMs, onState, ticks }: Required<PostgresStoreOptions>,
): Promise<ControlStore> {
  const known = createKnownKeys({ read, watch: () => watch, staleMs });
  const watch = await openChangeWatch({
    probe: async () => toChangeCount(await runOn(postgres.probe, COUNT_CHANGES)),
    invalidate: async (since) =>
      known.forget(since === undefined ? undefined : await listChanged(postgres.probe, since)),
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

  const run = (statement: Statement) => guarded(() => runOn(postgres.query, statement));

  async function read(id: string) {
    const [row] = await run(findOne(id));
    return row === undefined ? undefined : toRecord(row);
  }

  const runAll: ControlDatabase['transact'] = (reads, decide, { isDurable = true } = {}) =>
    guarded(() =>
      postgres.transaction(async (query) => {
        if (!isDurable) await query('SET LOCAL synchronous_commit TO off');
        const found = [];
        for (const statement of reads) found.push(await runOn(query, statement));
        const { statements, result } = decide(found);
        for (const statement of statements) await runOn(query, statement);
        return result;
      }),
    );

  return createControlStore({
    nowMs: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
    run,
    transact: runAll,
    findKey: known.find,
    forget: known.forget,
    isUp: () => !watch.isDown(),
    async close() {
      await watch.close();
      await postgres.close();
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
  const rows = await query('SELECT id FROM tailrace_keys WHERE change > $1 LIMIT $2', [
    since,
    CHANGED_MAX + 1,
  ]);
  return rows.length > CHANGED_MAX ? undefined : rows.map(({ id }) => String(id));
}
