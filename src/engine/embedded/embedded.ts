import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAborted } from '../../lib/abort.ts';
import { textOf } from '../../sql/sql.ts';
import type { Engine, InsertBatch, QueryLimits, QueryOptions, QueryResult } from '../engine.ts';
import { createGate, tooLarge } from '../failure.ts';
import { createSessionPool, type PoolLimits } from '../lanes.ts';
import {
  type EngineAnswer,
  EngineError,
  EngineLostError,
  type EngineRequest,
  type Payload,
} from '../process/channel.ts';
import {
  createSupervisor,
  type EngineEnv,
  type EngineProcess,
  type EngineRestart,
  endProcess,
  type Supervisor,
} from '../process/engine-process.ts';
import { createValueWriter, parseRows } from '../read-settings.ts';
import { closeSessions, openFirst, openProcess } from './open-process.ts';
import { createRunningQueries } from './running.ts';
import { CHANNEL, DATABASE, describeSessions, readerChannels } from './sessions.ts';

export interface EmbeddedOptions extends PoolLimits {
  readonly dataDir: string;
  /** See `EngineConfig`. */
  readonly backupDir: string;
  /** Queries that run at once. */
  readonly readers: number;
  /** Memory of the engine in all. */
  readonly memoryBytesMax: number;
  readonly limits: QueryLimits;
  /** See `startEngineProcess`. */
  readonly env?: EngineEnv;
  /** Called for each engine process that ended, and for each start that failed. */
  readonly onRestart?: ((restart: EngineRestart) => void) | undefined;
  /** Called for each query that may have ended the process. */
  readonly onSuspect?: ((query: Suspect) => void) | undefined;
}

/** A query that may have ended the engine: its endpoint and first request, and a key's id. */
export type Suspect = Pick<QueryOptions, 'origin' | 'lane'>;

// An internal statement that takes longer is stuck. Commands move data and take longer.
const STATEMENT_MS_MAX = 60_000;
const COMMAND_MS_MAX = 600_000;
// Longest wait for killed queries and running inserts.
const STOP_MS_MAX = 5_000;

/**
 * ClickHouse (chDB) in a child process, on one data directory that it owns until `close`. If that process ends, or has
 * to be killed, another one replaces it: acknowledged rows are on the disk; reads are retried, and so are inserts,
 * which the engine deduplicates by their tokens.
 *
 * Values enter the text as quoted literals, because queries with bound parameters run one at a time over the whole process.
 *
 * @throws EngineError when the engine cannot open the directory
 */
export async function openEmbeddedEngine(options: EmbeddedOptions): Promise<Engine> {
  const { dataDir, limits, memoryBytesMax, onRestart = () => {}, onSuspect = () => {} } = options;
  const sessions = describeSessions(dataDir, options);
  const pool = createSessionPool(
    Array.from({ length: options.readers }, (_, i) => readerChannels(i)),
    options,
  );
  const { first, start } = await openFirst((signal) => openProcess(sessions, options.readers, signal));
  const supervisor = createSupervisor(first, { start, waitMs: options.queueTimeoutMs, onRestart });
  const pulse = watchPulse(supervisor, CHANNEL.control, memoryBytesMax);
  const running = createRunningQueries({
    supervisor,
    timeoutMs: limits.timeoutMs,
    onSuspect,
  });
  const ask = askAgain(createAsk(supervisor, STATEMENT_MS_MAX));
  const askOnce = createAsk(supervisor, COMMAND_MS_MAX);
  const write = createValueWriter();
  const gate = createGate(limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    pulse.stop();
    pool.drain(gate.closed());
    const late = pause(STOP_MS_MAX, undefined, { ref: false });
    // If no process runs, one may be starting; it has to end before another may open the store.
    const process = await Promise.race([supervisor.close(), late]);
    if (process === undefined) return;
    const ended = running.stop().then(() => closeSessions(process, options.readers));
    await Promise.race([ended, late]);
    await endProcess(process);
  }

  return {
    cluster: '',
    takesBlocks: true,
    seesEveryWrite: true, // store-file.ts excludes every other process
    query: (sql, values, { format, signal, origin, lane, onJoin, ...rest }) =>
      gate.answer({ signal, ...rest }, async (deadline) => {
        const reader = await pool.acquire(deadline, { lane, onJoin });
        const channel = rest.sandboxed === undefined ? reader.stored : reader.sandboxed;
        const start = async () => {
          const query = { sql: write(sql, values), format, origin, lane, channel };
          return await running.start(query, deadline);
        };
        // The reader is released when the engine has ended the query, which after an abort is later than the response.
        const result = start().finally(() => pool.release(reader));
        return assertSize(await untilAborted(result, deadline), limits.resultBytesMax);
      }),
    insert: (batch) => gate.pass(() => insertBatch(ask, batch)),
    command: (sql) =>
      gate.pass(
        async () =>
          void (await askOnce(CHANNEL.writer, { op: 'query', format: 'Null' }, Buffer.from(textOf(sql)))),
      ),
    async inspect(sql) {
      gate.rejectClosed();
      const request = { op: 'query', format: 'JSONEachRow' } as const;
      return parseRows((await ask(CHANNEL.inspector, request, Buffer.from(textOf(sql)))).bytes);
    },
    gauges: () => ({
      state: supervisor.state,
      restarts: supervisor.restarts,
      memoryBytes: pulse.memoryBytes,
      running: pool.running,
      queued: pool.queued,
    }),
    close: gate.close,
  };
}

/** @throws TailraceError if the result is too large */
function assertSize(result: QueryResult, bytesMax: number): QueryResult {
  if (result.bytes.length > bytesMax) throw tooLarge(bytesMax);
  return result;
}

async function insertBatch(ask: Ask, batch: InsertBatch): Promise<void> {
  await ask(CHANNEL.writer, toInsert(batch), batch.format === 'blocks' ? batch.blocks : batch.bytes);
}

/** Every batch has a deduplication token, so that it can be retried after the process ended, and is stored once. */
function toInsert({ token = randomUUID(), ...batch }: InsertBatch): EngineRequest {
  const settings = { deduplicate_insert: 'enable', insert_deduplication_token: token };
  // Qualified: chDB does not quote names, and an unqualified `table` is a keyword of INSERT.
  const target = { table: `${DATABASE}.${batch.table}`, settings };
  return batch.format === 'blocks'
    ? { op: 'insertBlocks', columns: batch.columns, ...target }
    : { op: 'insert', columns: batch.columns, format: batch.format, ...target };
}

/** Sends a request to a channel of the running process. */
type Ask = (channel: number, request: EngineRequest, payload?: Payload) => Promise<EngineAnswer>;

// Not a query's tag, so no query is suspected if an internal statement is stuck.
const OWN_STATEMENT = 'an internal statement';

/**
 * Sends internal statements.
 *
 * @param msMax longest time of a statement; then it is stuck, and the process is replaced
 */
function createAsk(supervisor: Supervisor, msMax: number): Ask {
  return async (channel, request, payload) => {
    const process = await supervisor.use();
    const replace = () => supervisor.replace(process, { reason: 'stuck', culprit: OWN_STATEMENT });
    const stuck = setTimeout(replace, msMax);
    return await process.ask(channel, request, payload).finally(() => clearTimeout(stuck));
  };
}

/** For idempotent statements: retries once on the next process if the process ends first. */
function askAgain(ask: Ask): Ask {
  return (...args) =>
    ask(...args).catch((error: unknown) => {
      if (error instanceof EngineLostError) return ask(...args);
      throw error;
    });
}

const BEAT_MS = 1_000;
// Counted in beats, not in time, so that a suspended machine does not look like a silent engine.
const MISSED_MAX = 5;
// At the bound itself the engine rejects every query, so it is replaced a little before.
const MEMORY_SHARE_MAX = 0.95;
// Beats in a row: after the first of these numbers the caches are dropped, after the second the process is replaced.
const FULL_DROP = 2;
const FULL_MAX = 4;
const MEMORY_LIMIT_EXCEEDED = 241;

// Uses a time zone, like nearly every query: a lock on the engine's time zones does not stop `SELECT 1`.
const PING = `SELECT toDateTime(0, 'UTC')`;
const DROP_CACHES = [
  'SYSTEM DROP MARK CACHE',
  'SYSTEM DROP UNCOMPRESSED CACHE',
  'SYSTEM DROP COMPILED EXPRESSION CACHE',
  'SYSTEM DROP QUERY CONDITION CACHE',
  'SYSTEM JEMALLOC PURGE',
];

/**
 * Sends a heartbeat to the engine process, and reads its memory, once a second. A process that does not reply to five
 * in a row, replies only with errors, or uses too much memory, is replaced. A query that hangs alone does not stop
 * heartbeats: embedded/running.ts replaces the process if a KILL does not end it.
 *
 * @param control number of the control session's channel
 * @param memoryBytesMax memory of the engine in all
 */
function watchPulse(supervisor: Supervisor, control: number, memoryBytesMax: number) {
  let watched: EngineProcess | undefined;
  let isAsked = false;
  let missed = 0;
  let full = 0;
  let memoryBytes = 0;

  const ask = (process: EngineProcess, sql: string) =>
    process.ask(control, { op: 'query', format: 'TSVRaw' }, Buffer.from(sql));

  async function beat(process: EngineProcess): Promise<void> {
    memoryBytes = Number((await process.ask(control, { op: 'memory' })).bytes.toString());
    const isFull = await lacksMemory(process);
    if (process !== watched) return;
    missed = 0;
    full = isFull ? full + 1 : 0;
    if (full === FULL_DROP) for (const sql of DROP_CACHES) await ask(process, sql).catch(() => {});
    if (full >= FULL_MAX) supervisor.replace(process, { reason: 'memory' });
  }

  /**
   * Whether it rejects a query for lack of memory, or holds too much besides the memory of running queries, which is freed
   * when these end.
   */
  async function lacksMemory(process: EngineProcess): Promise<boolean> {
    try {
      await ask(process, PING);
      const bytesMax = memoryBytesMax * MEMORY_SHARE_MAX;
      if (memoryBytes < bytesMax) return false;
      const { bytes } = await ask(process, 'SELECT sum(memory_usage) FROM system.processes');
      return memoryBytes - Number(bytes.toString()) >= bytesMax;
    } catch (error) {
      if (error instanceof EngineError && error.clickhouseCode === MEMORY_LIMIT_EXCEEDED) return true;
      throw error;
    }
  }

  function tick(): void {
    const process = supervisor.running;
    if (process === undefined) return;
    if (process !== watched) {
      watched = process;
      isAsked = false;
      missed = 0;
      full = 0;
    }
    if (++missed > MISSED_MAX) supervisor.replace(process, { reason: 'silent' });
    if (isAsked) return;
    isAsked = true;
    void beat(process)
      .catch(() => {}) // missed
      .then(() => {
        if (process === watched) isAsked = false;
      });
  }

  const timer = setInterval(tick, BEAT_MS);
  return {
    /** Resident memory of the engine process at the last beat, bytes. */
    get memoryBytes(): number {
      return memoryBytes;
    },
    stop: () => clearInterval(timer),
  };
}
