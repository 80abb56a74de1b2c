import type { ServerAddress } from '../../config/clickhouse.ts';
import { textOf } from '../../sql/sql.ts';
import type { Engine, QueryLimits } from '../engine.ts';
import { createGate } from '../gate.ts';
import type { PoolLimits } from '../session-pool.ts';
import { createValueBinder } from '../values.ts';
import { connect } from './connect.ts';
import { createServerReads, describeQuery, describeSandboxed } from './reads.ts';
import { PING_PAUSE_MS, watchServer } from './watch.ts';
import { createServerWrites } from './writes.ts';

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
  const { limits, cluster, pingPauseMs = PING_PAUSE_MS, onReach = () => {} } = options;
  const { owner, reader, sandbox } = await connect(options);
  const watch = watchServer({ ping: reader.client.ping, pauseMs: pingPauseMs, onReach });
  const shared = { ...options, resultBytesMax: limits.resultBytesMax, watch };
  const stored = createServerReads({ ...shared, ...reader, describe: describeQuery });
  const sandboxed = sandbox && createServerReads({ ...shared, ...sandbox, describe: describeSandboxed });
  const all = sandboxed === undefined ? [stored] : [stored, sandboxed];
  const writes = createServerWrites(owner, cluster, watch);
  const bind = createValueBinder();
  const gate = createGate(limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    for (const { pool } of all) pool.drain(gate.closed());
    await writes.idle();
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
    insert: (batch) => gate.pass(() => writes.insert(batch)),
    command: (sql) => gate.pass(() => writes.command(textOf(sql))),
    async inspect(sql) {
      gate.refuseClosed();
      return await writes.inspect(textOf(sql));
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
