import type { ServerAddress } from '../config/clickhouse.ts';
import { untilAborted } from '../lib/abort.ts';
import type { Engine, QueryLimits } from './engine.ts';
import { createGate } from './gate.ts';
import { readSettings, writeFilters } from './read-settings.ts';
import { createServerClient, type ServerClient } from './server-client.ts';
import { createServerReads } from './server-reads.ts';
import { prepareServer } from './server-start.ts';
import { PING_PAUSE_MS, watchServer } from './server-watch.ts';
import { COMMAND_MS_MAX, createServerWrites } from './server-writes.ts';
import { createSessionPool, type PoolLimits } from './session-pool.ts';
import { createValueBinder } from './values.ts';

export interface ServerOptions extends PoolLimits {
  readonly address: ServerAddress;
  /** Queries of this process that run at once. */
  readonly readers: number;
  readonly limits: QueryLimits;
  /** Name of the cluster that the tables are spread over; empty: the server alone. */
  readonly cluster: string;
  /** Pause between two looks whether the server is there, ms. */
  readonly pingPauseMs?: number;
  /** Told when the server cannot be reached any more, and when it can again. */
  readonly onReach?: ((isUp: boolean, error?: unknown) => void) | undefined;
}

/** The right to one more query on the server, and what it may see. */
interface Turn {
  /** As `additional_table_filters` has it. */
  filters: string;
}

// Beside the queries: orders to stop others.
const SPARE_CONNECTIONS = 4;
const OWNER_CONNECTIONS_MAX = 10;

/**
 * A ClickHouse server or cluster, over HTTP. Values are bound by the server. Two users: the owner makes tables and stores
 * events, the reader runs queries; they may be the same, since each query is run with `readonly`.
 *
 * @throws InputError, TailraceError as src/engine/server-start.ts
 */
export async function openServerEngine(options: ServerOptions): Promise<Engine> {
  const { address, limits, cluster, pingPauseMs = PING_PAUSE_MS, onReach = () => {} } = options;
  const { owner, reader } = await connect(options);
  const filters = writeFilters(address.database, new Map());
  const turns = Array.from({ length: options.readers }, (): Turn => ({ filters }));
  const pool = createSessionPool(turns, options);
  const watch = watchServer({ ping: reader.ping, pauseMs: pingPauseMs, onReach });
  const reads = createServerReads(reader, limits, watch);
  const writes = createServerWrites(owner, cluster, watch);
  const bind = createValueBinder();
  const gate = createGate(limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    pool.drain(gate.closed());
    await writes.idle();
    await reads.stop(gate.closed());
    watch.stop(); // until then a server that goes away holds up nothing
    await Promise.all([owner.close(), reader.close()]);
  }

  return {
    cluster,
    seesEveryWrite: false, // other processes store events there, too
    query: (sql, values, { format, signal, origin, ...whose }) =>
      gate.answer(signal, async (late) => {
        const deadline = AbortSignal.any([late, watch.signal]);
        const statement = bind(sql, values);
        const turn = await pool.acquire(deadline, whose);
        const startedMs = performance.now();
        // The turn is over when the server has ended the query, which after an abort is later than the answer.
        const result = reads
          .start(statement, { format, filters: turn.filters, origin, signal: deadline })
          .finally(() => pool.release(turn));
        const bytes = await untilAborted(result, deadline);
        return { bytes, elapsedMs: performance.now() - startedMs };
      }),
    insert: (batch) => gate.pass(() => writes.insert(batch)),
    command: (sql) => gate.pass(() => writes.command(sql)),
    async inspect(sql) {
      gate.refuseClosed();
      return await writes.inspect(sql);
    },
    setReadFilters: (next) =>
      gate.pass(() =>
        pool.renew(async (turn) => {
          turn.filters = writeFilters(address.database, next);
        }),
      ),
    gauges: () => ({
      state: watch.isUp ? 'up' : 'unreachable',
      restarts: 0,
      memoryBytes: undefined,
      running: pool.running,
      queued: pool.queued,
    }),
    close: gate.close,
  };
}

/** Both users' connections, to a server that will do. */
async function connect({
  address,
  readers,
  limits,
  cluster,
}: ServerOptions): Promise<{ owner: ServerClient; reader: ServerClient }> {
  const { user, password } = address;
  const ofOwner = {
    user,
    password,
    connectionsMax: OWNER_CONNECTIONS_MAX,
    silenceMs: COMMAND_MS_MAX,
  };
  // In a database that is there before ours is.
  const system = createServerClient({
    ...ofOwner,
    address: { ...address, database: 'system' },
    compressRequests: false,
  });
  const owner = createServerClient({ ...ofOwner, address, compressRequests: true });
  const reader = createServerClient({
    address,
    user: address.readUser,
    password: address.readPassword,
    connectionsMax: readers + SPARE_CONNECTIONS,
    silenceMs: 2 * limits.timeoutMs, // each query has its own end, which comes first
    compressRequests: false,
  });
  try {
    const settings = { ...readSettings(limits), readonly: 1 };
    await prepareServer({ address, system, reader, readSettings: settings, cluster });
    return { owner, reader };
  } catch (error) {
    await Promise.all([owner.close(), reader.close()]);
    throw error;
  } finally {
    await system.close();
  }
}
