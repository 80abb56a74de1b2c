import { hash } from 'node:crypto';
import { TailraceError } from '../errors.ts';
import type { AnswerStore, KeptAnswer } from './answer-store.ts';
import type { Received } from './receive.ts';

/** Remembers what was answered to requests that carry an Idempotency-Key, across restarts. */
export interface Idempotency {
  /**
   * The answer of the first request with this key, or that of `work`, which is then remembered. A repeat that comes while
   * the first still runs waits for it. What fails is not remembered, so that it can be tried again.
   *
   * @param scope who asks and for what, so that two callers cannot meet in one key
   * @throws TailraceError `invalid_request` when the key came before with another body
   */
  once(request: IdempotentRequest, work: (token: string) => Promise<Received>): Promise<Received>;
  close(): Promise<void>;
}

export interface IdempotentRequest {
  readonly key: string;
  readonly scope: string;
  readonly bodyHash: string;
}

export interface IdempotencyOptions {
  readonly store: AnswerStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** How long an answer is remembered. */
  readonly windowMs: number;
  /** Answers remembered; beyond it the oldest go first. */
  readonly answersMax: number;
  /** An answer could not be looked up or kept. Its events are stored all the same. */
  readonly onFailure: (error: unknown) => void;
}

interface Running {
  readonly body: string;
  readonly answer: Promise<Received>;
  /** Whether nothing was kept, so that it is this request that does the work. */
  readonly isFirst: Promise<boolean>;
}

const KEY_CHARS_MAX = 256;
// Old answers go now and then, not with every request.
const PRUNE_EVERY = 1_000;

/**
 * Two guards together. The answer is kept after the events are committed; should the process die between the two, or the
 * answers be out of reach, the repeat commits under the same token, and the engine, which keeps the tokens with the data,
 * stores nothing twice.
 */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { store, now, windowMs, onFailure } = options;
  const running = new Map<string, Running>();
  let added = 0;

  /** What was answered to this token and body before. */
  async function recall(token: string, body: string): Promise<Received | undefined> {
    let kept: KeptAnswer | undefined;
    try {
      kept = await store.find(token, now() - windowMs);
    } catch (error) {
      onFailure(error);
    }
    if (kept === undefined) return undefined;
    refuseOtherBody(kept.body, body);
    return JSON.parse(kept.answer) as Received; // written by `remember` alone
  }

  async function remember(token: string, body: string, answer: Received): Promise<void> {
    const nowMs = now();
    const sinceMs = nowMs - windowMs;
    try {
      await store.add(token, { body, answer: JSON.stringify(answer) }, { nowMs, sinceMs });
      if (++added % PRUNE_EVERY === 0) await store.prune(sinceMs, options.answersMax);
    } catch (error) {
      onFailure(error);
    }
  }

  function begin(token: string, body: string, work: (token: string) => Promise<Received>): Promise<Received> {
    const isFirst = Promise.withResolvers<boolean>();
    const answerOnce = async (): Promise<Received> => {
      try {
        const known = await recall(token, body);
        isFirst.resolve(known === undefined);
        if (known !== undefined) return known;
        // With the body in it: under a key that comes with another body after the first failed half-way, the engine must not
        // take the other events for those that it has.
        const answer = await work(hash('sha256', `${token}\0${body}`));
        await remember(token, body, answer);
        return answer;
      } finally {
        isFirst.resolve(false); // where it was refused
        running.delete(token);
      }
    };
    const answer = answerOnce();
    running.set(token, { body, answer, isFirst: isFirst.promise });
    return answer;
  }

  return {
    async once({ key, scope, bodyHash: body }, work) {
      if (key.length > KEY_CHARS_MAX) {
        throw new TailraceError(
          'invalid_request',
          `Idempotency-Key must have at most ${KEY_CHARS_MAX} characters`,
        );
      }
      const token = hash('sha256', `${scope}\0${key}`);
      for (let other = running.get(token); other !== undefined; other = running.get(token)) {
        if (other.body === body) return await other.answer;
        if (await other.isFirst) refuseOtherBody(other.body, body);
        await other.answer.catch(() => {}); // it is about to be refused itself, and says nothing of this one
      }
      return await begin(token, body, work);
    },
    close: store.close,
  };
}

function refuseOtherBody(known: string, given: string): void {
  if (known === given) return;
  throw new TailraceError(
    'invalid_request',
    'this Idempotency-Key came before with another body; use a new key',
  );
}
