import type { ServerAddress } from '../../config/clickhouse.ts';
import { TailraceError } from '../../errors.ts';
import { startTask } from '../../lib/task.ts';
import { textOf } from '../../sql/sql.ts';
import type { Engine, QueryLimits } from '../engine.ts';
import { createGate } from '../failure.ts';
import type { PoolLimits } from '../lanes.ts';
import { createValueBinder, parseRows, readSettings, sandboxSettings } from '../read-settings.ts';
import { createServerClient, type ServerRequest } from './client.ts';
import { prepareServer } from './start.ts';
import {
  COMMAND_MS_MAX,
  createServerReads,
  READ_SETTINGS,
  type Reader,
  toCommand,
  toInsert,
  toInspection,
} from './statements.ts';

export interface ServerOptions extends PoolLimits {
  readonly address: ServerAddress;
  /** Queries of this process that run at once. */
  readonly readers: number;
  readonly limits: QueryLimits;
  /** Cluster of the tables; empty: a single server. */
  readonly cluster: string;
  /** Pause between two pings of the server, ms. */
  readonly pingPauseMs?: number;
  /** Called when the server becomes unavailable, and when it is available again. */
  readonly onReach?: ((isUp: boolean, error?: unknown) => void) | undefined;
}

/**
 * A ClickHouse server or cluster, over HTTP. Values are bound by the server. The owner creates tables and stores events, the
 * reader runs queries; they may be the same user, since each query is run with `readonly`. A third user, with its own
 * connections, may run SQL that callers write.
 *
 * @throws InputError, TailraceError as src/engine/server/start.ts
 */
export async function openServerEngine(options: ServerOptions): Promise<Engine> {
  const { limits, cluster } = options;
  const { owner, reader, sandbox } = await connect(options);
  const watch = watchServer(reader.client.ping, options);
  const shared = { ...options, resultBytesMax: limits.resultBytesMax, watch };
  const stored = createServerReads({ ...shared, ...reader });
  const sandboxed = sandbox && createServerReads({ ...shared, ...sandbox });
  const all = sandboxed === undefined ? [stored] : [stored, sandboxed];
  const writing = new Set<Promise<unknown>>();
  const bind = createValueBinder();
  const gate = createGate(limits.timeoutMs, stop);

  async function write(request: ServerRequest): Promise<void> {
    const work = owner.send(request);
    writing.add(work);
    await work.finally(() => writing.delete(work));
  }

  async function stop(): Promise<void> {
    for (const { pool } of all) pool.drain(gate.closed());
    await Promise.allSettled(writing);
    await Promise.all(all.map((reads) => reads.stop(gate.closed())));
    watch.stop(); // last: until here an unavailable server must still fail fast
    await owner.close();
  }

  return {
    cluster,
    takesBlocks: false, // its HTTP interface has no format for them
    seesEveryWrite: false, // other processes may store events there
    query: (sql, values, query) =>
      gate.answer(query, async (late) => {
        const deadline = AbortSignal.any([late, watch.signal]);
        const reads = query.sandboxed === undefined ? stored : (sandboxed ?? stored);
        return await reads.query(() => bind(sql, values), query, deadline);
      }),
    insert: (batch) => gate.pass(async () => await write(toInsert(batch, cluster, watch.signal))),
    command: (sql) => gate.pass(() => write(toCommand(textOf(sql)))),
    async inspect(sql) {
      gate.rejectClosed();
      return parseRows((await owner.send(toInspection(textOf(sql)))).bytes);
    },
    gauges: () => ({
      state: watch.isUp ? 'up' : 'unreachable',
      restarts: 0,
      memoryBytes: undefined,
      running: all.reduce((sum, { pool }) => sum + pool.running, 0),
      queued: all.reduce((sum, { pool }) => sum + pool.queued, 0),
    }),
    close: gate.close,
  };
}

type Account = NonNullable<ServerAddress['sandbox']>;

// Besides queries: KILL statements.
const SPARE_CONNECTIONS = 4;
const OWNER_CONNECTIONS_MAX = 10;

/**
 * The connections of every user, after the server was checked (start.ts). `sandbox` runs SQL that callers write;
 * `undefined`: the reader does.
 *
 * @throws InputError, TailraceError as src/engine/server/start.ts; nothing stays open then
 */
async function connect({ address, readers, limits, cluster }: ServerOptions) {
  const { user, password } = address;
  const ofOwner = { user, password, connectionsMax: OWNER_CONNECTIONS_MAX, silenceMs: COMMAND_MS_MAX };
  // The database `system` exists before ours.
  const inSystem = { ...address, database: 'system' };
  const system = createServerClient({ ...ofOwner, address: inSystem, compressRequests: false });
  const owner = createServerClient({ ...ofOwner, address, compressRequests: true });
  const createReader = (account: Account, reads: Omit<Reader, 'client'>): Reader => ({
    ...reads,
    client: createServerClient({
      ...account,
      address,
      connectionsMax: reads.slots + SPARE_CONNECTIONS,
      silenceMs: 2 * limits.timeoutMs, // each query has a deadline, which comes first
      compressRequests: false,
    }),
  });
  const reader = createReader(
    { user: address.readUser, password: address.readPassword },
    { slots: readers, settings: { ...readSettings(limits), ...READ_SETTINGS }, isSandbox: false },
  );
  // Half of the reader's slots: callers' SQL may slow stored queries down but never takes all slots.
  const slots = Math.max(1, Math.floor(readers / 2));
  const settings = { ...sandboxSettings(limits), ...READ_SETTINGS };
  const sandbox = address.sandbox && createReader(address.sandbox, { slots, settings, isSandbox: true });
  try {
    await prepareServer({ address, system, reader, sandbox, cluster });
    return { owner, reader, sandbox };
  } catch (error) {
    await Promise.all([owner.close(), reader.client.close(), sandbox?.client.close()]);
    throw error;
  } finally {
    await system.close();
  }
}

/** Even with the longest ping, a server that becomes available is used again within two seconds. */
const PING_PAUSE_MS = 500;
const PING_MS_MAX = 1_000;
// One lost connection is not an outage: an outage stops running queries.
const FAILURES_MAX = 3;

/**
 * Pings a server until stopped, so that callers fail fast while it is unavailable. A server that rejects connections
 * fails each query by itself; one behind a network that drops packets would hold each query until its timeout, and then
 * all that wait behind it.
 */
function watchServer(
  ping: (signal: AbortSignal) => Promise<void>,
  { pingPauseMs = PING_PAUSE_MS, onReach = () => {} }: ServerOptions,
) {
  let reach = new AbortController();
  let failures = 0;
  const stopped = new AbortController();

  function onSuccess(): void {
    failures = 0;
    if (!reach.signal.aborted) return;
    reach = new AbortController();
    onReach(true);
  }

  function onFailure(error: unknown): void {
    if (stopped.signal.aborted || ++failures < FAILURES_MAX || reach.signal.aborted) return;
    reach.abort(new TailraceError('engine_unavailable', 'the engine is not available', { cause: error }));
    onReach(false, error);
  }

  async function probe(): Promise<void> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(PING_MS_MAX)]);
    await ping(signal).then(onSuccess, onFailure);
  }

  const pinging = startTask({ name: 'ping', everyMs: pingPauseMs, run: probe });
  return {
    get isUp(): boolean {
      return !reach.signal.aborted;
    },
    /** Aborted while the server is unavailable, with the error for callers. */
    get signal(): AbortSignal {
      return reach.signal;
    },
    stop(): void {
      stopped.abort();
      void pinging.stop();
    },
  };
}
