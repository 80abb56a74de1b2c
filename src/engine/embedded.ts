import { type ChdbResult, drainPending } from 'chdb';
import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { createDeadline, untilAborted } from '../lib/abort.ts';
import { createRewriter } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { DATABASE } from './embedded-config.ts';
import { openSessions } from './embedded-sessions.ts';
import type { Engine, QueryLimits, QueryResult } from './engine.ts';
import { toTailraceError } from './failure.ts';
import { createRunningQueries } from './running.ts';
import { createSessionPool, type PoolLimits } from './session-pool.ts';
import { runStatement } from './statement.ts';

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
  const write = createWriter();
  const inTurn = createTurns();
  const { timeoutMs } = options.limits;
  const late = () =>
    new TailraceError('query_timeout', `the query took longer than ${timeoutMs} ms and was stopped`);
  let closing: Promise<void> | undefined;

  const closed = (cause?: unknown) =>
    new TailraceError('engine_unavailable', 'the service is shutting down', { cause });

  async function guard<T>(work: () => Promise<T>): Promise<T> {
    if (closing !== undefined) throw closed();
    return await work().catch((error) => {
      // What runs when the engine closes is killed, which by itself would look like a timeout.
      const failure = toTailraceError(error);
      throw closing === undefined ? failure : closed(failure);
    });
  }

  async function close(): Promise<void> {
    pool.drain(closed());
    await inTurn(async () => {});
    await running.stop();
    await drainPending();
    pool.close();
    for (const session of [control, writer]) session.close();
  }

  return {
    seesEveryWrite: true, // src/engine/store-lock.ts keeps every other process away
    async query(sql, values, { format, signal, lane, onJoin }) {
      const deadline = createDeadline(timeoutMs, late, signal);
      return await guard(async () => {
        const text = write(sql, values);
        const session = await pool.acquire(deadline.signal, { lane, onJoin });
        // The session goes back when the engine has ended, which after an abort is later than the answer.
        const result = running
          .start(session, text, format, deadline.signal)
          .finally(() => pool.release(session));
        return toResult(await untilAborted(result, deadline.signal), options.limits);
      })
        .catch((error) => {
          signal?.throwIfAborted();
          throw error;
        })
        .finally(deadline.clear);
    },
    insert: ({ table, columns, format, bytes, token }) => {
      const settings =
        token === undefined ? {} : { deduplicate_insert: 'enable', insert_deduplication_token: token };
      // With its database: chDB quotes no names, and `table` alone is a word of INSERT.
      const rows = { table: `${DATABASE}.${table}`, columns, format, values: bytes, settings };
      return guard(() => inTurn(async () => void (await writer.insert(rows))));
    },
    command: (sql) => guard(() => inTurn(async () => void (await writer.queryAsync(sql)))),
    async inspect(sql) {
      if (closing !== undefined) throw closed();
      const result = await runStatement(control, sql, 'JSONEachRow');
      const lines = result.text().split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    setReadFilters: (filters) => guard(() => pool.reopen(() => openReader(filters))),
    gauges: () => ({ running: pool.running, queued: pool.queued }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

const REWRITERS_MAX = 500;

/** Puts quoted values in the place of names. The cut text of each statement is kept, since the same few come again. */
function createWriter(): (sql: string, values: Readonly<Record<string, string>>) => string {
  const rewriters = new LRUCache<string, ReturnType<typeof createRewriter>>({ max: REWRITERS_MAX });
  return (sql, values) => {
    const rewrite = rewriters.get(sql) ?? createRewriter(sql);
    rewriters.set(sql, rewrite);
    return rewrite((name) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) throw new TailraceError('internal', `no value was given for @${name}`);
      return quote(value);
    });
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
  if (bytes.length > limits.resultBytesMax) {
    throw new TailraceError(
      'query_failed',
      `the answer is larger than ${limits.resultBytesMax} bytes; ask for less`,
    );
  }
  return {
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    elapsedMs: result.elapsed * 1000,
  };
}
