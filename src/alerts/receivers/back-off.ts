import type { OutboxMessage } from '../outbox.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 600_000;
// A receiver may ask for more patience than ours, but not for days.
const RETRY_AFTER_MS_MAX = 3_600_000;

const EXPIRY_MS = 86_400_000;
// In a day there are a hundred; with fewer, a clock that has jumped would end messages that were tried once.
const EXPIRY_TRIES_MIN = 10;

export interface BackOff {
  /** Failed tries, at least 1. */
  readonly tries: number;
  readonly retryAfterMs?: number | undefined;
  readonly random: () => number;
}

/** Returns how long to wait after a failed try: twice as long each time, up to ten minutes, less up to a half at random; or as long as the receiver asks for. */
export function backOffMs({ tries, retryAfterMs = 0, random }: BackOff): number {
  const fullMs = Math.min(FIRST_MS * 2 ** Math.min(tries, 30), LONGEST_MS);
  const ownMs = Math.round(fullMs * (1 - random() / 2));
  return Math.max(ownMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}

/** Whether a message has been tried for a day. @param tries of the message, or failures of its receiver in a row */
export function isExpired(
  { firstAtMs }: OutboxMessage,
  { tries, nowMs }: { readonly tries: number; readonly nowMs: number },
): boolean {
  return nowMs - firstAtMs >= EXPIRY_MS && tries >= EXPIRY_TRIES_MIN;
}
