import { EngineError } from './channel.ts';
import type { EngineProcess, Supervisor } from './engine-process.ts';

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
export function watchPulse(supervisor: Supervisor, control: number, memoryBytesMax: number) {
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
