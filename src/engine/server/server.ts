import type { ServerAddress } from '../../config/clickhouse.ts';
import type { Engine, QueryLimits } from '../engine.ts';
import { createGate } from '../gate.ts';
import { writeFilters } from '../read-settings.ts';
import type { PoolLimits } from '../session-pool.ts';
import { createValueBinder } from '../values.ts';
import { type ConnectedReader, connect } from './connect.ts';
import { createServerReaders, type ServerReaders } from './readers.ts';
import { describeQuery, describeSandboxed } from './reads.ts';
import { PING_PAUSE_MS, watchServer } from './watch.ts';
import { createServerWrites } from './writes.ts';

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

/**
 * A ClickHouse server or cluster, over HTTP. Values are bound by the server. The owner makes tables and stores events, the
 * reader runs queries; they may be the same user, since each query is run with `readonly`. A third user may run what callers
 * write, with connections of its own.
 *
 * @throws InputError, TailraceError as src/engine/server/start.ts
 */
export async function openServerEngine(options: ServerOptions): Promise<Engine> {
  const { address, limits, cluster, pingPauseMs = PING_PAUSE_MS, onReach = () => {} } = options;
  const { owner, reader, sandbox } = await connect(options);
  const watch = watchServer({ ping: reader.client.ping, pauseMs: pingPauseMs, onReach });
  const { resultBytesMax } = limits;
  const filters = writeFilters(address.database, new Map());
  const createReaders = (of: ConnectedReader, describe: typeof describeQuery): ServerReaders =>
    createServerReaders({ ...options, ...of, describe, filters, resultBytesMax, watch });
  const queries = createReaders(reader, describeQuery);
  const callers = sandbox && createReaders(sandbox, describeSandboxed);
  const all = callers === undefined ? [queries] : [queries, callers];
  const writes = createServerWrites(owner, cluster, watch);
  const bind = createValueBinder();
  const gate = createGate(limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    for (const one of all) one.drain(gate.closed());
    await writes.idle();
    await Promise.all(all.map((one) => one.stop(gate.closed())));
    watch.stop(); // last: until here an unavailable server must still fail fast
    await owner.close();
  }

  return {
    cluster,
    seesEveryWrite: false, // other processes store events there, too
    query: (sql, values, query) =>
      gate.answer(query.signal, async (late) => {
        const deadline = AbortSignal.any([late, watch.signal]);
        const readers = query.sandboxed === undefined ? queries : (callers ?? queries);
        return await readers.query(bind(sql, values), query, deadline);
      }),
    insert: (batch) => gate.pass(() => writes.insert(batch)),
    command: (sql) => gate.pass(() => writes.command(sql)),
    async inspect(sql) {
      gate.refuseClosed();
      return await writes.inspect(sql);
    },
    setReadFilters: (next) =>
      gate.pass(async () => {
        const text = writeFilters(address.database, next);
        await Promise.all(all.map((one) => one.setFilters(text)));
      }),
    gauges: () => ({
      state: watch.isUp ? 'up' : 'unreachable',
      restarts: 0,
      memoryBytes: undefined,
      running: all.reduce((sum, one) => sum + one.gauges().running, 0),
      queued: all.reduce((sum, one) => sum + one.gauges().queued, 0),
    }),
    close: gate.close,
  };
}
