import { type ChdbResult, drainPending } from 'chdb';
import { untilAborted } from '../lib/abort.ts';
import { DATABASE } from './embedded-config.ts';
import { openSessions } from './embedded-sessions.ts';
import type { Engine, QueryLimits, QueryResult } from './engine.ts';
import { tooLarge } from './failure.ts';
import { createGate } from './gate.ts';
import { createRunningQueries } from './running.ts';
import { createSessionPool, type PoolLimits } from './session-pool.ts';
import { runStatement } from './statement.ts';
import { createValueWriter } from './values.ts';

export interface EmbeddedOptions extends PoolLimits {
  readonly dataDir: string;
  /** Queries that run at once. */
  readonly readers: number;
  /** Of the engine in all. */
  readonly memoryBytesMax: number;
  readonly limits: QueryLimits;
}

/**
 * ClickHouse inside this process (chDB), on one data directory that it owns until `close`.
 *
 * Values enter the text as quoted literals, because queries with bound parameters run one at a time over the whole
 * process. libuv's pool must have more threads than there are sessions (bin/tailrace.js sets it).
 *
 * @throws Error when the engine cannot open the directory
 */
export async function openEmbeddedEngine(options: EmbeddedOptions): Promise<Engine> {
  const { writer, control, openReader } = await openSessions(options.dataDir, options);
  const readers = Array.from({ length: options.readers }, () => openReader(new Map()));
  const pool = createSessionPool(await Promise.all(readers), options);
  const running = createRunningQueries(control);
  const write = createValueWriter();
  const inTurn = createTurns();
  const gate = createGate(options.limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    pool.drain(gate.closed());
    await inTurn(async () => {});
    await running.stop();
    await drainPending();
    pool.close();
    for (const session of [control, writer]) session.close();
  }

  return {
    cluster: '',
    seesEveryWrite: true, // src/engine/store-lock.ts keeps every other process away
    query: (sql, values, { format, signal, ...whose }) =>
      gate.answer(signal, async (deadline) => {
        const text = write(sql, values);
        const session = await pool.acquire(deadline, whose);
        // The session goes back when the engine has ended, which after an abort is later than the answer.
        const result = running.start(session, text, format, deadline).finally(() => pool.release(session));
        return toResult(await untilAborted(result, deadline), options.limits);
      }),
    insert: ({ table, columns, format, bytes, token }) => {
      const settings =
        token === undefined ? {} : { deduplicate_insert: 'enable', insert_deduplication_token: token };
      // With its database: chDB quotes no names, and `table` alone is a word of INSERT.
      const rows = { table: `${DATABASE}.${table}`, columns, format, values: bytes, settings };
      return gate.pass(() => inTurn(async () => void (await writer.insert(rows))));
    },
    command: (sql) => gate.pass(() => inTurn(async () => void (await writer.queryAsync(sql)))),
    async inspect(sql) {
      gate.refuseClosed();
      const result = await runStatement(control, sql, 'JSONEachRow');
      const lines = result.text().split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    setReadFilters: (filters) => gate.pass(() => pool.reopen(() => openReader(filters))),
    gauges: () => ({ isUp: true, running: pool.running, queued: pool.queued }),
    close: gate.close,
  };
}

/** Work one after another: a Session runs one statement at a time. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

function toResult(result: ChdbResult, limits: QueryLimits): QueryResult {
  const bytes = result.bytes();
  if (bytes.length > limits.resultBytesMax) throw tooLarge(limits.resultBytesMax);
  return {
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    elapsedMs: result.elapsed * 1000,
  };
}
