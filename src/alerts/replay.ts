import type { Alert } from '../definitions/alert.ts';
import { TailraceError } from '../errors.ts';
import type { Evaluate } from './evaluate.ts';
import { type AlertMessage, createMessages } from './message.ts';
import { type AlertState, type Instance, NO_STATE, step } from './state.ts';

/** How an alert would have gone. */
export interface Replay {
  /** Evaluations. */
  readonly ticks: number;
  /** Evaluations that failed, and why the last of them did. */
  readonly failures: number;
  readonly lastError: string | undefined;
  /** How often an instance began to fire. */
  readonly fired: number;
  /** The messages, each of which goes to every receiver of the alert. */
  readonly messages: readonly AlertMessage[];
  /** What fires at the end. */
  readonly firing: readonly Instance[];
}

// A week of an alert that is evaluated each minute.
const TICKS_MAX = 10_080;
/** Queries at once, as of the evaluator: the answers do not depend on each other. */
export const CONCURRENCY = 4;

/**
 * Evaluates an alert at an instant and at each interval before it, as if it had been new at the first and without silences.
 * @param span ms; by default it reaches back as far as `for` of the alert
 * @throws TailraceError `invalid_request` if there are too many evaluations; the signal's reason
 */
export async function replay(
  alert: Alert,
  { untilMs, sinceMs = alert.forMs }: { readonly untilMs: number; readonly sinceMs?: number | undefined },
  { evaluate, signal }: { readonly evaluate: Evaluate; readonly signal: AbortSignal },
): Promise<Replay> {
  const { everyMs, delayMs } = alert;
  const before = Math.ceil(sinceMs / everyMs);
  if (before > TICKS_MAX) {
    const message = `${alert.name} is evaluated ${before} times in that time, one each ${everyMs / 1000} s`;
    const most = `the most is ${TICKS_MAX}, in ${(TICKS_MAX * everyMs) / 1000} s`;
    throw new TailraceError('invalid_request', `${message}; ${most}`);
  }
  const options = { rules: alert, receivers: alert.to, isSilenced: () => false };
  let state: AlertState = NO_STATE;
  let fired = 0;
  const messages: AlertMessage[] = [];
  const failed: string[] = [];
  const ticks = Array.from({ length: before + 1 }, (_, i) => untilMs - (before - i) * everyMs);
  for (let done = 0; done < ticks.length; done += CONCURRENCY) {
    const batch = ticks.slice(done, done + CONCURRENCY);
    const judge = async (tickMs: number) => {
      const { outcome } = await evaluate(alert, { nowMs: tickMs - delayMs, signal });
      return { tickMs, outcome };
    };
    for (const { tickMs, outcome } of await Promise.all(batch.map(judge))) {
      const next = step(state, { tickMs, outcome }, options);
      state = next.state;
      if (outcome.kind === 'failed') failed.push(outcome.reason);
      fired += next.transitions.filter(({ change }) => change === 'firing').length;
      messages.push(...createMessages(alert, next.transitions, tickMs).map(({ message }) => message));
    }
  }
  const firing = Object.values(state.instances).filter(({ phase }) => phase === 'firing');
  return {
    ...{ ticks: ticks.length, failures: failed.length, lastError: failed.at(-1) },
    ...{ fired, messages, firing },
  };
}
