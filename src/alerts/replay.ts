import { v7 as newOrderedId } from 'uuid';
import type { Alert } from '../definitions/alert.ts';
import type { Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import type { Evaluate } from './evaluate.ts';
import { createMessages, createTestMessage, type FindLink } from './message.ts';
import { type AlertMessage, writeMessage } from './outbox.ts';
import { type AlertState, type Instance, NO_STATE, step } from './state.ts';

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
  /** Called after each evaluation with the share that is done, at most 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

// A week of an alert that is evaluated each minute.
const TICKS_MAX = 10_080;
// Queries at once, as of the evaluator: the answers do not depend on each other.
const CONCURRENCY = 4;

/**
 * Evaluates an alert at an instant and at each interval before it, as if it had been new at the first and without silences.
 *
 * @param span ms; by default it reaches back as far as `for` of the alert
 * @throws TailraceError `invalid_request` if there are too many evaluations; the signal's reason
 */
export async function replay(
  alert: Alert,
  { untilMs, sinceMs = alert.forMs }: { readonly untilMs: number; readonly sinceMs?: number | undefined },
  { evaluate, signal, onProgress }: ReplayOptions,
): Promise<Replay> {
  const { everyMs, delayMs } = alert;
  const before = Math.ceil(sinceMs / everyMs);
  if (before > TICKS_MAX)
    throw new TailraceError(
      'invalid_request',
      `${alert.name} is evaluated ${before} times in that time, one each ${everyMs / 1000} s; the most is ${TICKS_MAX}`,
    );
  let state: AlertState = NO_STATE;
  const messages: AlertMessage[] = [];
  const failed: string[] = [];
  const ticks = Array.from({ length: before + 1 }, (_, i) => untilMs - (before - i) * everyMs);
  for (let done = 0; done < ticks.length; done += CONCURRENCY) {
    const batch = ticks.slice(done, done + CONCURRENCY);
    const judged = await Promise.all(
      batch.map(async (tickMs) => {
        return { tickMs, ...(await evaluate(alert, { nowMs: tickMs - delayMs, signal })) };
      }),
    );
    for (const { tickMs, outcome } of judged) {
      const next = step(state, { tickMs, outcome }, { rules: alert, isSilenced: () => false });
      state = next.state;
      if (outcome.kind === 'failed') failed.push(outcome.reason);
      messages.push(...createMessages(alert, next.transitions, { atMs: tickMs }));
    }
    onProgress?.(Math.min(1, (done + CONCURRENCY) / ticks.length));
  }
  const lastError = failed.at(-1);
  return {
    ...{ alert: alert.name, ticks: ticks.length, failures: failed.length, messages },
    ...(lastError !== undefined && { lastError }),
    firing: Object.values(state.instances).filter(({ phase }) => phase === 'firing'),
  };
}

export interface AlertTestParts extends Pick<ReplayOptions, 'evaluate' | 'onProgress'> {
  readonly registry: Pick<Registry, 'getAlert'>;
  readonly store: AlertStore;
  /** Names of the receivers. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink?: FindLink;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** An alert, and for how many ms before the present it is evaluated; without them it is evaluated as of the present. */
export interface AlertTest {
  readonly name: string;
  readonly sinceMs?: number;
}

export interface AlertTestResult extends Replay {
  readonly to: readonly string[];
  /** The receivers of the message that is marked as a test; none with `sinceMs`. */
  readonly sentTo: readonly string[];
  /** Ids of their messages in the outbox, by receiver. */
  readonly messageIds: Readonly<Record<string, string>>;
}

/**
 * Tries an alert: over the time before the present, or as of the present with one message to its receivers that is
 * marked as a test. No state
 * changes.
 *
 * @throws TailraceError `not_found`; as `replay`
 */
export async function testAlert(
  { registry, evaluate, store, receivers, findLink, now, onProgress }: AlertTestParts,
  { name, sinceMs }: AlertTest,
  signal: AbortSignal,
): Promise<AlertTestResult> {
  const alert = registry.getAlert(name);
  const atMs = now();
  const result = await replay(alert, { untilMs: atMs, sinceMs }, { evaluate, signal, onProgress });
  const { to } = alert;
  if (sinceMs !== undefined) return { ...result, to, sentTo: [], messageIds: {} };
  const sentTo = to.filter((receiver) => receivers().has(receiver));
  const texts = { ...alert, link: findLink?.(alert.name) };
  const message = writeMessage({ alertId: alert.id, message: createTestMessage(texts, result.firing, atMs) });
  const sent = sentTo.map((receiver) => ({ id: newOrderedId(), receiver, message }));
  for (const one of sent) await store.addMessage(one, atMs);
  const messageIds = Object.fromEntries(sent.map(({ receiver, id }) => [receiver, id]));
  return { ...result, to, sentTo, messageIds };
}
