import { setTimeout as delay } from 'node:timers/promises';
import { v7 as newOrderedId } from 'uuid';
import type { Evaluate } from '../alerts/evaluate.ts';
import { NO_RECEIVER } from '../alerts/evaluation.ts';
import { createTestMessage, type FindLink } from '../alerts/message.ts';
import { CONCURRENCY, type Replay, replay } from '../alerts/replay.ts';
import type { Alert } from '../definitions/alert.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import type { NewMessage } from '../keys/alerts/alert-record.ts';
import { createDeadline } from '../lib/abort.ts';
import { type TokenBucket, takeToken } from '../lib/token-bucket.ts';
import type { AlertReplayView, AlertTestView } from './alert-view.ts';
import { type AlertParts, getVisible, type Reach } from './alerts.ts';

export type AlertTests = ReturnType<typeof createAlertTests>;

/** An alert that is not saved, on a served endpoint or on one that is not saved either. */
interface AlertDraft {
  readonly alert: Alert;
  readonly endpoint: Endpoint | undefined;
}

export interface AlertTestParts extends AlertParts {
  readonly evaluate: Evaluate;
  /** Names of the receivers. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink: FindLink;
}

// Each test calls people.
const RATE = { perSecond: 1 / 10, burst: 5 };
const EVALUATION_MS_MAX = 30_000;
/** How long a response waits for the receivers. */
const DELIVERY_MS_MAX = 10_000;
const PROBE_EVERY_MS = 100;
const WEEK_MS = 7 * 86_400_000;
// A thousand evaluations, or fewer of a slow query: somebody waits for them.
const WEEK_EVERY_MS = [600_000, 1_800_000, 3_600_000];
const WEEK_WAIT_MS = 15_000;
// The console asks by itself: a slow query must not keep the engine busy for an hour.
const WEEK_TRY_MS_MAX = 120_000;
const TOO_SLOW =
  'the query is too slow to be tried over 7 days within 120 s; save the alert, and try less by ' +
  '"tailrace alerts test NAME --since 12h"';

/**
 * Creates what tries alerts for callers: one at a time, and a few messages each minute. Each method throws TailraceError
 * `not_found`, `rate_limited`, `query_timeout`, or the signal's reason.
 */
export function createAlertTests(parts: AlertTestParts) {
  const { evaluate, now } = parts;
  let bucket: TokenBucket | undefined;
  let isBusy = false;

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const message = 'another alert is being tested; repeat this when that has ended';
    if (isBusy) throw new TailraceError('rate_limited', message, { retryAfterSeconds: 5 });
    isBusy = true;
    return await work().finally(() => {
      isBusy = false;
    });
  }

  function takeTurn(): void {
    const { bucket: next, passed, retryAfterSeconds } = takeToken(bucket, RATE, now());
    bucket = next;
    if (passed) return;
    const message = `alerts were tested ${RATE.burst} times just now; each test calls people`;
    throw new TailraceError('rate_limited', message, { retryAfterSeconds });
  }

  async function replayOver(
    { alert, endpoint }: AlertDraft,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<AlertReplayView> {
    const asking: Evaluate = (one, at) => evaluate(one, { ...at, endpoint });
    const played = await replay(alert, { untilMs: now(), sinceMs }, { evaluate: asking, signal });
    return toReplayView(alert, played);
  }

  return {
    /** Evaluates an alert, and sends its receivers one message that is marked as a test. */
    async test(caller: Reach, name: string, signal: AbortSignal) {
      const alert = getVisible(parts, caller, name);
      return await alone(() => {
        takeTurn();
        return sendTest(parts, alert, signal);
      });
    },
    /** Evaluates an alert over the time before now. @throws also `invalid_request` if there are too many evaluations */
    async replay(
      caller: Reach,
      { name, since_seconds: since }: { readonly name: string; readonly since_seconds: number },
      signal: AbortSignal,
    ) {
      const alert = getVisible(parts, caller, name);
      return await alone(() => replayOver({ alert, endpoint: undefined }, since * 1000, signal));
    },
    /** Evaluates an alert that is not saved over the last week, at most each ten minutes, or each hour if that is slow. */
    replayWeek: ({ alert, endpoint }: AlertDraft, signal: AbortSignal) =>
      alone(() =>
        within({ ms: WEEK_TRY_MS_MAX, message: TOO_SLOW, signal }, async (ends) => {
          const startMs = performance.now();
          await evaluate(alert, { nowMs: now(), signal: ends, endpoint });
          const onceMs = performance.now() - startMs;
          const everyMs = WEEK_EVERY_MS.find((ms) => (onceMs * WEEK_MS) / ms / CONCURRENCY < WEEK_WAIT_MS);
          const rare = Math.max(alert.everyMs, everyMs ?? WEEK_EVERY_MS.at(-1) ?? WEEK_MS);
          return await replayOver({ alert: { ...alert, everyMs: rare }, endpoint }, WEEK_MS, ends);
        }),
      ),
  };
}

async function sendTest(parts: AlertTestParts, alert: Alert, signal: AbortSignal): Promise<AlertTestView> {
  const { evaluate, now, receivers, findLink, control } = parts;
  const atMs = now();
  const message = `${alert.name} was not evaluated within ${EVALUATION_MS_MAX / 1000} s; no message was sent`;
  const { firing, lastError } = await within({ ms: EVALUATION_MS_MAX, message, signal }, (ends) =>
    replay(alert, { untilMs: atMs }, { evaluate, signal: ends }),
  );
  const texts = { ...alert, link: findLink(alert.name) };
  const sent = JSON.stringify(createTestMessage(texts, firing, atMs));
  const untilMs = performance.now() + DELIVERY_MS_MAX;
  const outcomes = alert.to.map(async (receiver) => {
    if (!receivers().has(receiver)) return [receiver, NO_RECEIVER] as const;
    const id = newOrderedId();
    await control.alerts.addMessage({ id, alert: alert.id, receiver, message: sent }, atMs);
    return [receiver, await watchMessage(parts, { id, alert: alert.id, receiver, untilMs }, signal)] as const;
  });
  const result = Object.fromEntries(await Promise.all(outcomes));
  return { result, firing: firing.length, last_error: lastError ?? null };
}

/** @throws TailraceError `query_timeout` with the message if the work takes longer */
async function within<T>(
  { ms, message, signal }: { readonly ms: number; readonly message: string; readonly signal: AbortSignal },
  work: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = createDeadline(ms, () => new TailraceError('query_timeout', message), signal);
  return await work(deadline.signal).finally(deadline.clear);
}

/**
 * Waits until the receiver has accepted a message or failed to, at most until `untilMs`, by `performance.now()`. The outbox
 * sends it again.
 */
async function watchMessage(
  { control }: AlertParts,
  sent: Omit<NewMessage, 'message'> & { readonly untilMs: number },
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    const waiting = await control.alerts.listMessages(sent.receiver, sent.alert);
    const own = waiting.find(({ id }) => id === sent.id);
    // It is given up after a day, so within seconds it has been accepted.
    if (own === undefined) return 'sent';
    if (own.reason !== '') return `${own.reason}; it is sent again later`;
    if (performance.now() >= sent.untilMs) {
      const { reason = '' } =
        (await control.alerts.nextMessage(sent.receiver, Number.MAX_SAFE_INTEGER)) ?? {};
      const why = reason && `: an earlier message waits: ${reason}`;
      return `not accepted yet${why}; it is retried for a day`;
    }
    await delay(PROBE_EVERY_MS, undefined, { signal });
  }
}

function toReplayView({ everyMs, to }: Alert, { messages, lastError, ...rest }: Replay): AlertReplayView {
  const { ticks, fired, failures } = rest;
  return {
    ...{ ticks, every_seconds: everyMs / 1000, fired, failures, last_error: lastError ?? null, to: [...to] },
    messages: messages.map(({ at, status, text, instances }) => ({
      ...{ at, status, text, instances: instances.map(({ labels }) => ({ ...labels })) },
    })),
  };
}
