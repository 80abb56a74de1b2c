import { setTimeout as delay } from 'node:timers/promises';
import { NO_RECEIVER } from '../alerts/outbox.ts';
import { type AlertTestParts, type AlertTestResult, testAlert } from '../alerts/replay.ts';
import { TailraceError } from '../errors.ts';
import { type TokenBucket, takeToken } from '../lib/token-bucket.ts';
import { type AlertParts, getVisible, type Reach } from './alert-access.ts';
import type { AlertTestView } from './alert-view.ts';

/** @throws TailraceError `not_found`, `rate_limited`, `query_timeout`; the signal's reason */
export type TestAlert = (caller: Reach, name: string, signal: AbortSignal) => Promise<AlertTestView>;

export interface AlertTestOptions {
  readonly command: AlertTestParts;
  readonly parts: AlertParts;
  /** How long a response waits for the receivers. */
  readonly deliveryMsMax?: number;
}

// Each test calls people.
const RATE = { perSecond: 1 / 10, burst: 5 };
const EVALUATION_MS_MAX = 30_000;
const DELIVERY_MS_MAX = 10_000;
const LOOK_EVERY_MS = 100;

/** Creates what sends test messages for callers: one test at a time, and a few each minute. */
export function createAlertTest({
  command,
  parts,
  deliveryMsMax = DELIVERY_MS_MAX,
}: AlertTestOptions): TestAlert {
  let bucket: TokenBucket | undefined;
  let isBusy = false;

  function takeTurn(): void {
    if (isBusy)
      throw new TailraceError(
        'rate_limited',
        'another alert is being tested; repeat this when that has ended',
        {
          retryAfterSeconds: 5,
        },
      );
    const { bucket: next, passed, retryAfterSeconds } = takeToken(bucket, RATE, parts.now());
    bucket = next;
    if (passed) return;
    const message = `alerts were tested ${RATE.burst} times just now; each test calls people`;
    throw new TailraceError('rate_limited', message, { retryAfterSeconds });
  }

  async function run(name: string, signal: AbortSignal): Promise<AlertTestView> {
    const timeout = AbortSignal.timeout(EVALUATION_MS_MAX);
    const tested = await testAlert(command, { name }, AbortSignal.any([signal, timeout])).catch(
      (error: unknown) => {
        if (!timeout.aborted || signal.aborted) throw error;
        const message = `${name} was not evaluated within ${EVALUATION_MS_MAX / 1000} s; no message was sent`;
        throw new TailraceError('query_timeout', message, { cause: error });
      },
    );
    return {
      result: await watchDelivery(tested, { parts, untilMs: performance.now() + deliveryMsMax, signal }),
      firing: tested.firing.length,
      last_error: tested.lastError ?? null,
    };
  }

  return async (caller, name, signal) => {
    const alert = getVisible(parts, caller, name);
    takeTurn();
    isBusy = true;
    try {
      return await run(alert.name, signal);
    } finally {
      isBusy = false;
    }
  };
}

interface Watch {
  readonly parts: AlertParts;
  /** By `performance.now()`. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until each receiver has accepted its message or failed to. The messages stay in the outbox, which sends them
 * again.
 */
async function watchDelivery(tested: AlertTestResult, watch: Watch): Promise<AlertTestView['result']> {
  const outcomes = tested.to.map(async (receiver) => {
    const { [receiver]: id } = tested.messageIds;
    return [receiver, id === undefined ? NO_RECEIVER : await watchMessage(id, watch)] as const;
  });
  return Object.fromEntries(await Promise.all(outcomes));
}

async function watchMessage(id: string, { parts, untilMs, signal }: Watch): Promise<string> {
  const { alerts } = parts.control;
  for (;;) {
    const waiting = await alerts.findMessage(id);
    // It is given up after a day, so within seconds it has been accepted.
    if (waiting === undefined) return 'sent';
    if (waiting.reason !== '') return `${waiting.reason}; it is sent again later`;
    if (performance.now() >= untilMs) return 'not accepted yet; it is retried for a day';
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}
