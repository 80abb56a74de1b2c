import { hash } from 'node:crypto';
import { TailraceError } from '../../errors.ts';

/** The outcome of a request with events: all that were not rejected are stored. */
export interface Received {
  readonly stored: number;
  /** See `Batch`. */
  readonly reasons: readonly string[];
  readonly refused: number;
  /** Stored events that belong to no project; `undefined` in outcomes kept by older versions. */
  readonly withoutProject?: number;
  /** See `Batch`; `undefined` in outcomes kept by older versions. */
  readonly repaired?: number;
  /** Events that `drop` or `sample` of their source left out; `undefined` in outcomes kept by older versions. */
  readonly dropped?: number;
}

/** Remembers the outcome of requests with an Idempotency-Key, across restarts. */
export interface Idempotency {
  /**
   * Returns the outcome of the first request with this key, or runs `work` and remembers its outcome. A repeat waits while the
   * first request runs. Failures are not remembered, so that the request can be retried.
   *
   * @param work gets the deduplication token of its inserts
   * @throws TailraceError `invalid_request` if the key was used with another body
   */
  once(request: IdempotentRequest, work: (token: string) => Promise<Received>): Promise<Received>;
  close(): Promise<void>;
}

export interface IdempotentRequest {
  readonly key: string;
  /** Caller and target, so that two callers cannot share a key. */
  readonly scope: string;
  readonly bodyHash: string;
}

/** Keeps outcomes. One suite tests all implementations: test/ingest/idempotency.test.ts. */
export interface AnswerStore {
  /** Finds the answer kept under a token after `sinceMs` (ms since the epoch). */
  find(token: string, sinceMs: number): Promise<KeptAnswer | undefined>;
  /** Keeps an answer, unless the token has one since `sinceMs`. */
  add(
    token: string,
    kept: KeptAnswer,
    times: { readonly nowMs: number; readonly sinceMs: number },
  ): Promise<void>;
  /** Deletes answers of `sinceMs` or before, and the oldest beyond `answersMax`; a large backlog is deleted in parts. */
  prune(sinceMs: number, answersMax: number): Promise<void>;
  close(): Promise<void>;
}

export interface KeptAnswer {
  /** Hash of the request body. */
  readonly body: string;
  /** As JSON. */
  readonly answer: string;
}

export interface IdempotencyOptions {
  readonly store: AnswerStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** How long an answer is remembered. */
  readonly windowMs: number;
  /** Answers remembered; past it the oldest are deleted. */
  readonly answersMax: number;
  /** Called if an answer could not be looked up or kept; its events are stored nevertheless. */
  readonly onFailure: (error: unknown) => void;
}

interface Running {
  readonly body: string;
  readonly answer: Promise<Received>;
  /** Whether this request runs the work, since no answer was kept. */
  readonly isFirst: Promise<boolean>;
}

const KEY_CHARS_MAX = 256;
// Pruning with every request would cost more than storing it.
const PRUNE_EVERY = 1_000;

/**
 * Guards twice. The answer is kept after the events are committed; if the process dies in between, or answers cannot be read, the
 * repeat commits under the same deduplication token, and the engine, which keeps tokens with the rows, stores nothing twice.
 */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { store, now, windowMs, onFailure } = options;
  const running = new Map<string, Running>();
  let added = 0;

  /** Finds the answer kept for this token and body. */
  async function recall(token: string, body: string): Promise<Received | undefined> {
    let kept: KeptAnswer | undefined;
    try {
      kept = await store.find(token, now() - windowMs);
    } catch (error) {
      onFailure(error);
    }
    if (kept === undefined) return undefined;
    refuseOtherBody(kept.body, body);
    return JSON.parse(kept.answer) as Received; // only `remember` writes it
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
        // The body belongs to the token: after a request that failed half-way, the engine must not treat the events of
        // another body under the same key as duplicates.
        const answer = await work(hash('sha256', `${token}\0${body}`));
        await remember(token, body, answer);
        return answer;
      } finally {
        isFirst.resolve(false); // no effect unless `recall` threw
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
        const message = `Idempotency-Key must have at most ${KEY_CHARS_MAX} characters`;
        throw new TailraceError('invalid_request', message);
      }
      const token = hash('sha256', `${scope}\0${key}`);
      for (let other = running.get(token); other !== undefined; other = running.get(token)) {
        if (other.body === body) return await other.answer;
        if (await other.isFirst) refuseOtherBody(other.body, body);
        await other.answer.catch(() => {}); // rejected for its body: says nothing about this one
      }
      return await begin(token, body, work);
    },
    close: store.close,
  };
}

function refuseOtherBody(known: string, given: string): void {
  if (known === given) return;
  const message = 'this Idempotency-Key was used before with another body; use a new key';
  throw new TailraceError('invalid_request', message);
}
