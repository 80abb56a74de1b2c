import { findChildren } from '../../trial/server.ts';
import { mainThreadMs, processMs } from './core-time.ts';

/** Core time of a service so far, ms. */
export interface ServiceTime {
  /** The event loop: HTTP, small bodies, groups. */
  readonly loop: number;
  /** The other threads: large bodies, decompression. */
  readonly threads: number;
  /** The engine's process: inserts, queries and merges. */
  readonly engine: number;
}

/** Reads the core time of a service and its engine; NaN without /proc. */
export function readServiceTime(pid: number): ServiceTime {
  const loop = mainThreadMs(pid);
  const engine = findChildren(pid).reduce((sum, child) => sum + processMs(child), 0);
  return { loop, threads: processMs(pid) - loop, engine };
}

/** Returns the time between two readings, divided by `count`, in µs. */
export function perItem(before: ServiceTime, after: ServiceTime, count: number): ServiceTime {
  const micros = (part: keyof ServiceTime) => ((after[part] - before[part]) * 1_000) / count;
  return { loop: micros('loop'), threads: micros('threads'), engine: micros('engine') };
}
