import { v7 as newOrderedId } from 'uuid';
import type { Registry } from '../definitions/registry.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import type { Evaluate } from './evaluate.ts';
import { createTestMessage } from './message.ts';
import { writeMessage } from './outbox.ts';
import { type Replay, replay, replayAt } from './replay.ts';

export interface TestCommandOptions {
  readonly registry: Pick<Registry, 'getAlert'>;
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** Names of the receivers. */
  readonly receivers: () => ReadonlySet<string>;
  /** ms since the epoch. */
  readonly now: () => number;
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
}

/**
 * Tries an alert: over a range, or as of the present with one message to its receivers that is marked as a test. No state changes.
 *
 * @throws TailraceError `not_found`; as `replay`
 */
export async function testAlert(
  { registry, evaluate, store, receivers, now }: TestCommandOptions,
  { name, range }: AlertTest,
  signal: AbortSignal,
): Promise<AlertTestResult> {
  const alert = registry.getAlert(name);
  const options = { evaluate, signal };
  if (range !== undefined) return { ...(await replay(alert, range, options)), to: alert.to, sentTo: [] };
  const atMs = now();
  const result = await replayAt(alert, atMs, options);
  const sentTo = alert.to.filter((receiver) => receivers().has(receiver));
  const message = writeMessage({ alertId: alert.id, message: createTestMessage(alert, result.firing, atMs) });
  for (const receiver of sentTo) await store.addMessage({ id: newOrderedId(), receiver, message }, atMs);
  return { ...result, to: alert.to, sentTo };
}
