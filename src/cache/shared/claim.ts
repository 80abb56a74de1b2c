import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline, untilAborted } from '../../lib/abort.ts';
import type { Background } from '../../lib/background.ts';
import type { Question } from '../../query/question.ts';
import type { Answer } from '../../query/run.ts';
import type { Lease } from './lease.ts';
import type { SharedCache } from './redis-cache.ts';

export interface LeaseRequest {
  readonly question: Question;
  /** Whether an answer of another replica is acceptable. */
  readonly isGood: (answer: Answer) => boolean;
  /** The mark of the rejected answer; empty if unknown. */
  readonly mark: string;
}

/**
 * `shared`: another replica has the answer. `ours`: this replica computes it, with the lease, or without one if the state of the
 * others is unknown.
 */
export type Claim =
  | { readonly kind: 'shared'; readonly answer: Answer }
  | { readonly kind: 'ours'; readonly lease: Lease | undefined };

/** Another replica is computing; `mark` is that of the answer stored until then. `holder` is left out if it is unknown. */
export interface LeaseHeld {
  readonly kind: 'held';
  readonly mark: string;
  readonly holder?: string;
}

const WAITED_ENOUGH = new Error('the answer of another replica did not come in time');
const ALONE: Claim = { kind: 'ours', lease: undefined };
const POLL_MS = 25;
// Two have failed, or their answers were rejected: every replica now computes for itself, all at once.
const HOLDERS_MAX = 2;

export interface ClaimsOptions {
  readonly background: Background;
  /**
   * Longest that a caller waits for other replicas. Otherwise a query that hangs there, or anyone who renews a lease in Redis,
   * would use up the caller's whole time.
   */
  readonly waitMsMax: number;
}

/** Decides which replica computes an answer. */
export function createClaims(shared: SharedCache, { background: { run }, waitMsMax }: ClaimsOptions) {
  async function findGood({ question, isGood }: LeaseRequest): Promise<Claim | undefined> {
    const answer = await shared.find(question);
    if (answer === undefined) return ALONE;
    return answer !== 'none' && isGood(answer) ? { kind: 'shared', answer } : undefined;
  }

  /** @param mark that of the answer stored before the lease was requested: another may have been stored since */
  async function takeLease(wanted: LeaseRequest, mark: string): Promise<Claim | LeaseHeld> {
    const lease = await shared.lease(wanted.question.key);
    if (lease === undefined) return ALONE;
    if (lease === 'held') return { kind: 'held', mark };
    const ours: Claim = { kind: 'ours', lease };
    if (lease.mark === mark || lease.mark === '') return ours;
    const found = await findGood(wanted);
    if (found?.kind !== 'shared') return ours;
    run(lease.release());
    return found;
  }

  async function claim(wanted: LeaseRequest): Promise<Claim | LeaseHeld> {
    const probe = await shared.probe(wanted.question.key);
    if (probe === undefined) return ALONE;
    const { mark, holder } = probe;
    const found = mark === '' || mark === wanted.mark ? undefined : await findGood(wanted);
    return found ?? (holder === '' ? await takeLease(wanted, mark) : { kind: 'held', mark, holder });
  }

  /** Waits until there is an answer, or the holder gives up or dies, even if the next one is computing already. */
  async function waitForHolder(
    key: string,
    { mark, ...held }: LeaseHeld,
    signal: AbortSignal,
  ): Promise<void> {
    let { holder } = held;
    for (;;) {
      await untilAborted(delay(POLL_MS), signal);
      const probe = await shared.probe(key);
      holder ??= probe?.holder;
      const isSame = probe !== undefined && probe.holder === holder && probe.mark === mark;
      if (!isSame || holder === '') return;
    }
  }

  return {
    /** Decides without waiting. */
    claim,
    /**
     * Decides for a caller, which needs an answer: waits while another replica computes, for `waitMsMax` at most, and then lets this one
     * compute without a lease. @throws the signal's reason
     */
    async wait(wanted: LeaseRequest, caller: AbortSignal): Promise<Claim> {
      const { signal, clear } = createDeadline(waitMsMax, () => WAITED_ENOUGH, caller);
      try {
        for (let holders = 0; ; holders++) {
          const claimed = await claim(wanted);
          if (claimed.kind !== 'held') return claimed;
          if (holders === HOLDERS_MAX) return ALONE;
          await waitForHolder(wanted.question.key, claimed, signal);
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
