// Loaded into a service by `--import`: writes to a file how long its event loop was blocked since the last SIGUSR2. /metrics has
// that too, but resets it with each request.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The content of `PAUSES_FILE`, as JSON. */
export interface Pauses {
  /** Longest time between two iterations of the event loop, ms; on a busy machine it includes other processes. */
  readonly byClockMs: number;
  /** Longest CPU time of the event loop's thread between two iterations, ms. */
  readonly onCoreMs: number;
}

const TURN_MS = 2;
const WRITE_EVERY_MS = 200;

function watch(file: string): void {
  const delay = monitorEventLoopDelay({ resolution: TURN_MS });
  delay.enable();
  let onCoreMs = 0;
  let lastMs = readCoreMs();

  function turn(): void {
    const nowMs = readCoreMs();
    onCoreMs = Math.max(onCoreMs, nowMs - lastMs);
    lastMs = nowMs;
  }

  function write(): void {
    const pauses: Pauses = { byClockMs: delay.max / 1e6, onCoreMs };
    writeFileSync(`${file}.new`, JSON.stringify(pauses)); // a reader finds the old content or the new
    renameSync(`${file}.new`, file);
  }

  process.on('SIGUSR2', () => {
    delay.reset();
    onCoreMs = 0;
    write();
  });
  setInterval(turn, TURN_MS).unref();
  setInterval(write, WRITE_EVERY_MS).unref();
}

function readCoreMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const { PAUSES_FILE = '' } = process.env;
if (isMainThread) watch(PAUSES_FILE);
