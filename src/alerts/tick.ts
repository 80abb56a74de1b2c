import { createHash } from 'node:crypto';
import type { Alert } from '../definitions/alert.ts';

// A daily alert still runs in the first minute of its day.
const JITTER_MS_MAX = 60_000;

type Ticking = Pick<Alert, 'name' | 'everyMs'>;

// A hash for each of a thousand alerts, several times a second, would be a share of a core.
const jitters = new WeakMap<Ticking, number>();

/** Returns the last tick of an alert at or before an instant. Alerts of one interval tick at different times, by their names. */
export function lastTick(alert: Ticking, atMs: number): number {
  const { everyMs } = alert;
  const jitterMs = jitters.get(alert) ?? jitterOf(alert);
  jitters.set(alert, jitterMs);
  return Math.floor((atMs - jitterMs) / everyMs) * everyMs + jitterMs;
}

function jitterOf({ name, everyMs }: Ticking): number {
  return createHash('sha256').update(name).digest().readUInt32BE() % Math.min(everyMs, JITTER_MS_MAX);
}
