import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline, untilAborted } from '../../lib/abort.ts';
import type { Background } from '../../lib/background.ts';
import type { Answer } from '../../query/run.ts';
import type { Lease, SharedCache } from './shared-cache.ts';

export interface Wanted {
  readonly key: string;
  /** Whether an answer of another replica will do. */
  readonly isGood: (answer: Answer) => boolean;
  /** Of an answer that will not; empty where none is known. */
  readonly mark: string;
}

/**
 * Whose an answer is to make: nobody's any more, since another replica has; this one's, with a lease, or without one where there is
 * no knowing what the others do.
 */
export type Turn =
  | { readonly kind: 'shared'; readonly answer: Answer }
  | { readonly kind: 'ours'; readonly lease: Lease | undefined };

/** Another replica is making it; `mark` is of what stands there until it has. Where it is not known which one, `holder` is left out. */
interface Held {
  readonly kind: 'held';
  readonly mark: string;
  readonly holder?: string;
}

export interface Turns {
  /** Whose turn it is, at once. */
  take(wanted: Wanted): Promise<Turn | Held>;
  /**
   * The same for a caller, who has to have an answer: waits while it is another's, for `waitMsMax` at most, and is then to
   * make it without a lease.
   *
   * @throws the signal's reason
   */
  wait(wanted: Wanted, signal: AbortSignal): Promise<Turn>;
}

const WAITED_ENOUGH = new Error('the answer of another replica did not come in time');
const ALONE: Turn = { kind: 'ours', lease: undefined };
const POLL_MS = 25;
// Two have failed at it, or what they made will not do: each of us finds out by itself now, and all at once.
const HOLDERS_MAX = 2;

export interface TurnsOptions {
  readonly background: Background;
  /**
   * Longest that a caller waits for other replicas: a query that hangs there, or anyone who renews a lease in Redis, would
   * otherwise use up the caller's whole time.
   */
  readonly waitMsMax: number;
}

export function createTurns(shared: SharedCache, { background: { run }, waitMsMax }: TurnsOptions): Turns {
  async function findGood({ key, isGood }: Wanted): Promise<Turn | undefined> {
    const answer = await shared.find(key);
    if (answer === undefined) return ALONE;
    return answer !== 'none' && isGood(answer) ? { kind: 'shared', answer } : undefined;
  }

  /** @param mark of what was there before the lease was asked for: an answer may have come since */
  async function takeLease(wanted: Wanted, mark: string): Promise<Turn | Held> {
    const lease = await shared.lease(wanted.key);
    if (lease === undefined) return ALONE;
    if (lease === 'held') return { kind: 'held', mark };
    const ours: Turn = { kind: 'ours', lease };
    if (lease.mark === mark || lease.mark === '') return ours;
    const found = await findGood(wanted);
    if (found?.kind !== 'shared') return ours;
    run(lease.free());
    return found;
  }

  async function take(wanted: Wanted): Promise<Turn | Held> {
    const seen = await shared.look(wanted.key);
    if (seen === undefined) return ALONE;
    const { mark, holder } = seen;
    const found = mark === '' || mark === wanted.mark ? undefined : await findGood(wanted);
    return found ?? (holder === '' ? await takeLease(wanted, mark) : { kind: 'held', mark, holder });
  }

  /** Until there is an answer, or the holder gives up or dies, also where the next one is at it already. */
  async function waitForHolder(key: string, { mark, ...held }: Held, signal: AbortSignal): Promise<void> {
    let { holder } = held;
    for (;;) {
      await untilAborted(delay(POLL_MS), signal);
      const seen = await shared.look(key);
      holder ??= seen?.holder;
      if (seen === undefined || seen.holder === '' || seen.holder !== holder || seen.mark !== mark) return;
    }
  }

  return {
    take,
    async wait(wanted, caller) {
      const { signal, clear } = createDeadline(waitMsMax, () => WAITED_ENOUGH, caller);
      try {
        for (let holders = 0; ; holders++) {
          const turn = await take(wanted);
          if (turn.kind !== 'held') return turn;
          if (holders === HOLDERS_MAX) return ALONE;
          await waitForHolder(wanted.key, turn, signal);
        }
      } catch (error) {
        if (error === WAITED_ENOUGH) return ALONE;
        throw error;
      } finally {
        clear();
      }
    },
  };
}
