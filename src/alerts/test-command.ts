import { v7 as newOrderedId } from 'uuid';
import type { Registry } from '../definitions/registry.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import type { Evaluate } from './evaluate.ts';
import { createTestMessage, type FindLink } from './message.ts';
import { writeMessage } from './outbox.ts';
import { type Replay, replay, replayAt } from './replay.ts';

export interface TestCommandOptions {
  readonly registry: Pick<Registry, 'getAlert'>;
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** Names of the receivers. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink?: FindLink;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Called after each evaluation with the share that is done, at most 1. */
  readonly onProgress?: (share: number) => void;
}

/** An alert, and the range over which it is evaluated; without one it is evaluated as of the present. */
export interface AlertTest {
  readonly name: string;
  /** ms since the epoch. */
  readonly range?: { readonly fromMs: number; readonly untilMs: number };
}

export interface AlertTestResult extends Replay {
  readonly to: readonly string[];
  /** The receivers of the message that is marked as a test; none for a range. */
  readonly sentTo: readonly string[];
  /** Ids of their messages in the outbox, by receiver. */
  readonly messageIds: Readonly<Record<string, string>>;
}

/**
 * Tries an alert: over a range, or as of the present with one message to its receivers that is marked as a test. No state changes.
 *
 * @throws TailraceError `not_found`; as `replay`
 */
export async function testAlert(
  { registry, evaluate, store, receivers, findLink, now, onProgress }: TestCommandOptions,
  { name, range }: AlertTest,
  signal: AbortSignal,
): Promise<AlertTestResult> {
  const alert = registry.getAlert(name);
  const options = { evaluate, signal, ...(onProgress && { onProgress }) };
  if (range !== undefined)
    return { ...(await replay(alert, range, options)), to: alert.to, sentTo: [], messageIds: {} };
  const atMs = now();
  const result = await replayAt(alert, atMs, options);
  const sentTo = alert.to.filter((receiver) => receivers().has(receiver));
  const texts = { ...alert, link: findLink?.(alert.name) };
  const message = writeMessage({ alertId: alert.id, message: createTestMessage(texts, result.firing, atMs) });
  const sent = sentTo.map((receiver) => ({ id: newOrderedId(), receiver, message }));
  for (const one of sent) await store.addMessage(one, atMs);
  const messageIds = Object.fromEntries(sent.map(({ receiver, id }) => [receiver, id]));
  return { ...result, to: alert.to, sentTo, messageIds };
}
