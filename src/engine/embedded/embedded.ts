import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { untilAborted } from '../../lib/abort.ts';
import { textOf } from '../../sql/sql.ts';
import type { Engine, InsertBatch } from '../engine.ts';
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
  type EngineProcess,
  type EngineRestart,
  endProcess,
  type Supervisor,
} from '../process/engine-process.ts';
import { createValueWriter, parseRows } from '../read-settings.ts';
import { closeSessions, openFirst } from './open-process.ts';
import { createRunningQueries, type Suspect } from './running.ts';
import { CHANNEL, DATABASE, describeSessions, readerChannels, type SessionOptions } from './sessions.ts';

export interface EmbeddedOptions extends PoolLimits, SessionOptions {
  /** Called for each engine process that ended, and for each start that failed. */
  readonly onRestart?: ((restart: EngineRestart) => void) | undefined;
  /** Called for each query that may have ended the process. */
  readonly onSuspect?: ((query: Suspect) => void) | undefined;
}

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
  const { limits, onRestart = () => {}, onSuspect = () => {} } = options;
  const sessions = describeSessions(options);
  const pool = createSessionPool(readerChannels(options.readers), options);
  const { first, start } = await openFirst(sessions);
  const supervisor = createSupervisor(first, { start, waitMs: options.queueTimeoutMs, onRestart });
  const pulse = watchPulse(supervisor, options.memoryBytesMax);
  const running = createRunningQueries({ supervisor, timeoutMs: limits.timeoutMs, onSuspect });
  const ask = createAsk(supervisor, { msMax: STATEMENT_MS_MAX, repeats: true });
  const askOnce = createAsk(supervisor, { msMax: COMMAND_MS_MAX, repeats: false });
  const write = createValueWriter();
  const gate = createGate(limits.timeoutMs, stop);

  async function stop(): Promise<void> {
    pulse.stop();
    pool.drain(gate.closed());
    const late = pause(STOP_MS_MAX, undefined, { ref: false });
    // If no process runs, one may be starting; it has to end before another may open the store.
    const process = await Promise.race([supervisor.close(), late]);
    if (process === undefined) return;
    const ended = running.stop().then(() => closeSessions(process, sessions));
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
        const answer = await untilAborted(result, deadline);
        if (answer.bytes.length > limits.resultBytesMax) throw tooLarge(limits.resultBytesMax);
        return answer;
      }),
    insert: (batch) => gate.pass(async () => void (await ask(CHANNEL.writer, ...toInsert(batch)))),
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

/** Every batch has a deduplication token, so that it can be retried after the process ended, and is stored once. */
function toInsert(batch: InsertBatch): [EngineRequest, Payload] {
  // Qualified: chDB does not quote names, and an unqualified `table` is a keyword of INSERT.
  const target = {
    op: 'insert',
    table: `${DATABASE}.${batch.table}`,
    token: batch.token ?? randomUUID(),
  } as const;
  if (batch.format === 'blocks')
    return [{ ...target, format: 'blocks', columns: batch.columns }, batch.blocks];
  return [{ ...target, format: batch.format, columns: batch.columns }, batch.bytes];
}

// Not a query's tag, so no query is suspected if an internal statement is stuck.
const OWN_STATEMENT = 'an internal statement';

interface AskOptions {
  /** Longest time of a statement; then it is stuck, and the process is replaced. */
  readonly msMax: number;
  /** For idempotent statements: retries once on the next process if the process ends first. */
  readonly repeats: boolean;
}

/** Returns a function that sends an internal statement to a channel of the running process. */
function createAsk(supervisor: Supervisor, { msMax, repeats }: AskOptions) {
  async function ask(channel: number, request: EngineRequest, payload: Payload): Promise<EngineAnswer> {
    const process = await supervisor.use();
    const replace = () => supervisor.replace(process, { reason: 'stuck', culprit: OWN_STATEMENT });
    const stuck = setTimeout(replace, msMax);
    return await process.ask(channel, request, payload).finally(() => clearTimeout(stuck));
  }
  return (...args: Parameters<typeof ask>): Promise<EngineAnswer> =>
    ask(...args).catch((error: unknown) => {
      if (repeats && error instanceof EngineLostError) return ask(...args);
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
 * @param memoryBytesMax memory of the engine in all
 */
function watchPulse(supervisor: Supervisor, memoryBytesMax: number) {
  let watched: Watched | undefined;
  let memoryBytes = 0;

  const ask = (process: EngineProcess, sql: string) =>
    process.ask(CHANNEL.control, { op: 'query', format: 'TSVRaw' }, Buffer.from(sql));

  async function beat(state: Watched): Promise<void> {
    const { process } = state;
    memoryBytes = Number((await process.ask(CHANNEL.control, { op: 'memory' })).bytes.toString());
    const isFull = await lacksMemory(process);
    state.missed = 0;
    state.full = isFull ? state.full + 1 : 0;
    if (state.full === FULL_DROP) for (const sql of DROP_CACHES) await ask(process, sql).catch(() => {});
    if (state.full >= FULL_MAX) supervisor.replace(process, { reason: 'memory' });
  }

  /** Whether it rejects a query for lack of memory, or holds too much besides what running queries free at their end. */
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
    if (watched?.process !== process) watched = { process, isAsked: false, missed: 0, full: 0 };
    const state = watched;
    if (++state.missed > MISSED_MAX) supervisor.replace(process, { reason: 'silent' });
    if (state.isAsked) return;
    state.isAsked = true;
    const onEnd = () => {
      state.isAsked = false;
    };
    void beat(state).then(onEnd, onEnd); // a failed beat is missed
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

/** The process that runs, and the beats in a row that it has missed, or in which its memory was full. */
interface Watched {
  readonly process: EngineProcess;
  isAsked: boolean;
  missed: number;
  full: number;
}
