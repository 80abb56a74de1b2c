import { EngineError, type Silence } from './channel.ts';
import type { EngineProcess } from './engine-process.ts';
import type { Supervisor } from './supervisor.ts';

export type Pulse = ReturnType<typeof watchPulse>;

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
 * Sends a heartbeat to the engine process, and reads its memory, once a second. A process that no longer replies, or uses
 * too much memory, is replaced.
 *
 * @param control number of the control session's channel
 * @param memoryBytesMax memory of the engine in all
 */
export function watchPulse(supervisor: Supervisor, control: number, memoryBytesMax: number) {
  let watched: EngineProcess | undefined;
  let isAsked = false;
  let missed = 0;
  let full = 0;
  let failed = 0;
  let memoryBytes = 0;
  let askedMs = 0;
  let answeredMs = 0;

  const ask = (process: EngineProcess, sql: string) =>
    process.ask(control, { op: 'query', format: 'TSVRaw' }, Buffer.from(sql));

  async function beat(process: EngineProcess): Promise<void> {
    memoryBytes = Number((await process.ask(control, { op: 'memory' })).bytes.toString());
    const isFull = await lacksMemory(process);
    if (process !== watched) return;
    failed = 0;
    answeredMs = askedMs;
    full = isFull ? full + 1 : 0;
    if (full === FULL_DROP) for (const sql of DROP_CACHES) await ask(process, sql).catch(() => {});
    if (full >= FULL_MAX) supervisor.replace(process, { reason: 'memory' });
  }

  /**
   * Whether it rejects a query for lack of memory, or holds too much besides the memory of running queries, which is freed when
   * these end.
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

  /** An engine that answers heartbeats only with errors is as useless as a silent one. */
  function fail(process: EngineProcess, error: unknown): void {
    if (process !== watched || !(error instanceof EngineError)) return; // a process that has ended is replaced anyway
    if (++failed >= MISSED_MAX) supervisor.replace(process, { reason: 'silent' });
  }

  function tick(): void {
    const process = supervisor.running;
    if (process === undefined) return;
    if (process !== watched) {
      watched = process;
      isAsked = false;
      full = 0;
      failed = 0;
    }
    missed = isAsked ? missed + 1 : 0;
    if (missed >= MISSED_MAX) supervisor.replace(process, { reason: 'silent', silence: findSilence() });
    if (isAsked) return;
    isAsked = true;
    askedMs = performance.now();
    void beat(process)
      .catch((error: unknown) => fail(process, error))
      .then(() => {
        if (process === watched) isAsked = false;
      });
  }

  function findSilence(): Silence | undefined {
    return missed > 0 ? { afterMs: answeredMs, beforeMs: askedMs } : undefined;
  }

  const timer = setInterval(tick, BEAT_MS);
  return {
    /** Undefined while heartbeats get replies. */
    get silence(): Silence | undefined {
      return findSilence();
    },
    /** Resident memory of the engine process at the last beat, bytes. */
    get memoryBytes(): number {
      return memoryBytes;
    },
    stop: () => clearInterval(timer),
  };
}
