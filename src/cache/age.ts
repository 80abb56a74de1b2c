import type { Endpoint } from '../definitions/endpoint.ts';
import type { Answer } from '../query/run.ts';

/** Whether an answer is younger than that. One from ahead of the clock is not: it was set back, and the age cannot be told. */
export function isYoungerAt(nowMs: number, { instantMs }: Answer, seconds: number): boolean {
  return nowMs >= instantMs && nowMs - instantMs < seconds * 1000;
}

/** Since the instant of the answer's query, whole seconds. */
export function ageSecondsAt(nowMs: number, { instantMs }: Answer): number {
  return Math.max(0, Math.floor((nowMs - instantMs) / 1000));
}

/** Whether a caller who wanted a query of now was faster than a refresh begun before: nobody after him gets less than he saw. */
export function isOvertaken({ instantMs }: Answer, kept: Answer | undefined, nowMs: number): boolean {
  return kept !== undefined && kept.instantMs > instantMs && kept.instantMs <= nowMs;
}

/** How old an answer may be for a caller who takes one of `maxAgeSeconds`. */
export function acceptedSeconds(
  { cachingSeconds = 0 }: Endpoint,
  maxAgeSeconds = Number.POSITIVE_INFINITY,
): number {
  return Math.min(cachingSeconds, maxAgeSeconds);
}
