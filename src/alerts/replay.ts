import type { Alert } from '../definitions/alert.ts';
import { InputError } from '../errors.ts';
import type { Evaluate } from './evaluate.ts';
import { createMessages } from './message.ts';
import type { AlertMessage } from './outbox.ts';
import { type AlertState, type Instance, NO_STATE, step } from './state.ts';
import { lastTick } from './tick.ts';

/** How an alert would have gone. */
export interface Replay {
  readonly alert: string;
  /** Evaluations. */
  readonly ticks: number;
  /** Evaluations that failed, and why the last of them did. */
  readonly failures: number;
  readonly lastError?: string;
  /** The messages, each of which goes to every receiver of the alert. */
  readonly messages: readonly AlertMessage[];
  /** What fires at the end. */
  readonly firing: readonly Instance[];
}

export interface ReplayOptions {
  readonly evaluate: Evaluate;
  readonly signal: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

// A week of an alert that is evaluated each minute.
const TICKS_MAX = 10_080;
// Queries at once, as of the evaluator: the answers of a range do not depend on each other.
const CONCURRENCY = 4;

/**
 * Evaluates an alert at each of its ticks in a range, as if it had been new at its start and without silences.
 *
 * @param range ms since the epoch, both ends included
 * @throws InputError if there are too many ticks; the signal's reason
 */
export async function replay(
  alert: Alert,
  range: { readonly fromMs: number; readonly untilMs: number },
  { evaluate, signal, onProgress }: ReplayOptions,
): Promise<Replay> {
  if (range.untilMs < range.fromMs) throw new InputError(['the range ends before it begins']);
  const lastMs = lastTick(alert, range.untilMs);
  const firstMs = Math.min(lastTick(alert, range.fromMs - 1) + alert.everyMs, lastMs);
  const ticks = (lastMs - firstMs) / alert.everyMs + 1;
  if (ticks > TICKS_MAX)
    throw new InputError([
      `the range has ${ticks} evaluations of ${alert.name}, one each ${alert.everyMs / 1000} s; the most is ${TICKS_MAX}`,
    ]);
  let state: AlertState = NO_STATE;
  const messages: AlertMessage[] = [];
  const failed: string[] = [];
  for (let i = 0; i < ticks; i += CONCURRENCY) {
    const batch = Array.from(
      { length: Math.min(CONCURRENCY, ticks - i) },
      (_, j) => firstMs + (i + j) * alert.everyMs,
    );
    const judged = await Promise.all(
      batch.map((tickMs) => evaluate(alert, { nowMs: tickMs - alert.delayMs, signal })),
    );
    for (const [j, { outcome }] of judged.entries()) {
      const tickMs = batch[j] ?? lastMs;
      const next = step(state, { tickMs, outcome }, { rules: alert, isSilenced: () => false });
      state = next.state;
      if (outcome.kind === 'failed') failed.push(outcome.reason);
      messages.push(...createMessages(alert, next.transitions, { atMs: tickMs }));
    }
    onProgress?.(Math.min(1, (i + CONCURRENCY) / ticks));
  }
  const lastError = failed.at(-1);
  return {
    ...{ alert: alert.name, ticks, failures: failed.length, messages },
    ...(lastError !== undefined && { lastError }),
    firing: Object.values(state.instances).filter(({ phase }) => phase === 'firing'),
  };
}

/** Evaluates an alert as of one tick: over as many ticks before it as `for` takes. @param atMs ms since the epoch */
export async function replayAt(alert: Alert, atMs: number, options: ReplayOptions): Promise<Replay> {
  const shifted: Evaluate = (one, { nowMs, signal }) =>
    options.evaluate(one, { nowMs: nowMs + atMs - lastTick(alert, atMs), ...(signal && { signal }) });
  const before = Math.ceil(alert.forMs / alert.everyMs) * alert.everyMs;
  return await replay(
    alert,
    { fromMs: lastTick(alert, atMs) - before, untilMs: atMs },
    { ...options, evaluate: shifted },
  );
}
