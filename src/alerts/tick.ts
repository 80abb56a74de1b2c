import { createHash } from 'node:crypto';
import type { Alert } from '../definitions/alert.ts';

// A daily alert still runs in the first minute of its day.
const JITTER_MS_MAX = 60_000;

/** Returns the last tick of an alert at or before an instant. Alerts of one interval tick at different times, by their names. */
export function lastTick({ name, everyMs }: Pick<Alert, 'name' | 'everyMs'>, atMs: number): number {
  const jitterMs =
    createHash('sha256').update(name).digest().readUInt32BE() % Math.min(everyMs, JITTER_MS_MAX);
  return Math.floor((atMs - jitterMs) / everyMs) * everyMs + jitterMs;
}
