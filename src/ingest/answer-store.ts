/** What was answered to requests with an Idempotency-Key, across restarts. */
export interface AnswerStore {
  /** What was kept under a token after `sinceMs` (ms since the epoch). */
  find(token: string, sinceMs: number): Promise<KeptAnswer | undefined>;
  /** Keeps an answer; one that is there since `sinceMs` stays. */
  add(
    token: string,
    kept: KeptAnswer,
    times: { readonly nowMs: number; readonly sinceMs: number },
  ): Promise<void>;
  /** Drops what is from `sinceMs` or before, and the oldest beyond `answersMax`; of very many a part, and the rest the next times. */
  prune(sinceMs: number, answersMax: number): Promise<void>;
  close(): Promise<void>;
}

export interface KeptAnswer {
  /** Hash of the request's body. */
  readonly body: string;
  /** As JSON. */
  readonly answer: string;
}
