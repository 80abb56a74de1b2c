import type { EngineProcess } from './engine-process.ts';
import type { Supervisor } from './supervisor.ts';

/** Finds out that the engine process no longer works, or takes too much memory, and has it replaced. */
export interface Pulse {
  /** Resident memory of the engine process at the last beat, bytes. */
  readonly memoryBytes: number;
  stop(): void;
}

export interface PulseOptions {
  readonly supervisor: Supervisor;
  /** Number of the channel that is asked. */
  readonly control: number;
  /** Memory that the engine may take in all. */
  readonly memoryBytesMax: number;
}

const BEAT_MS = 1_000;
// Counted in beats of our own, so that a machine that stood still does not look like an engine that does.
const MISSED_MAX = 5;
// At the bound itself the engine refuses every query, so it is replaced a little before.
const MEMORY_SHARE_MAX = 0.95;
const FULL_MAX = 5;

// A function of time zones, as nearly every query has one: a lock on the engine's time zones stops `SELECT 1` from nothing.
const PING = `SELECT toDateTime(0, 'UTC')`;
const DROP_CACHES = [
  'SYSTEM DROP MARK CACHE',
  'SYSTEM DROP UNCOMPRESSED CACHE',
  'SYSTEM DROP COMPILED EXPRESSION CACHE',
  'SYSTEM DROP QUERY CONDITION CACHE',
  'SYSTEM JEMALLOC PURGE',
];

/** Asks the engine process for a sign of life, and for its memory, once a second. */
export function watchPulse({ supervisor, control, memoryBytesMax }: PulseOptions): Pulse {
  let watched: EngineProcess | undefined;
  let isAsked = false;
  let missed = 0;
  let full = 0;
  let memoryBytes = 0;

  const ask = (process: EngineProcess, sql: string) =>
    process.ask(control, { op: 'query', format: 'TSVRaw' }, Buffer.from(sql));

  async function beat(process: EngineProcess): Promise<void> {
    await ask(process, PING);
    memoryBytes = Number((await process.ask(control, { op: 'memory' })).bytes.toString());
    full = (await isFull(process)) ? full + 1 : 0;
    if (full === FULL_MAX) for (const sql of DROP_CACHES) await ask(process, sql).catch(() => {});
    if (full > FULL_MAX) supervisor.replace(process, 'memory');
  }

  /** What running queries hold comes back when they end, by themselves or at their own bounds. */
  async function isFull(process: EngineProcess): Promise<boolean> {
    const bytesMax = memoryBytesMax * MEMORY_SHARE_MAX;
    if (memoryBytes < bytesMax) return false;
    const { bytes } = await ask(process, 'SELECT sum(memory_usage) FROM system.processes');
    return memoryBytes - Number(bytes.toString()) >= bytesMax;
  }

  function tick(): void {
    const process = supervisor.running;
    if (process === undefined) return;
    if (process !== watched) {
      watched = process;
      isAsked = false;
      full = 0;
    }
    missed = isAsked ? missed + 1 : 0;
    if (missed >= MISSED_MAX) supervisor.replace(process, 'silent');
    if (isAsked) return;
    isAsked = true;
    void beat(process)
      .catch(() => {}) // a process that has ended is replaced anyway
      .then(() => {
        if (process === watched) isAsked = false;
      });
  }

  const timer = setInterval(tick, BEAT_MS);
  return {
    get memoryBytes() {
      return memoryBytes;
    },
    stop: () => clearInterval(timer),
  };
}
