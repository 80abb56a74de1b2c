import type { Answer } from '../../query/run.ts';

/**
 * A cache behind that of each replica. It may be away at any time, which is never a failure: whatever is asked of it then is
 * `undefined`, and the replica goes on by itself.
 */
export interface SharedCache {
  /**
   * The answer under a key, its instant by this replica's clock: as old as it is, or older by a round trip, never younger.
   *
   * @returns `none` where there is none that can be trusted
   */
  find(key: string): Promise<Answer | 'none' | undefined>;
  /** What stands under a key, at a glance. */
  look(key: string): Promise<Look | undefined>;
  /** Takes the key's lease, unless a replica has it: whoever holds it makes the answer, the others wait for that. */
  lease(key: string): Promise<Lease | 'held' | undefined>;
  /** Puts an answer there, unless there is a later one. */
  keep(key: string, answer: Answer, life: Life): Promise<void>;
  /** The mark under which `find` found an answer or `keep` put it; `undefined` for one that was never there. */
  markOf(answer: Answer): string | undefined;
}

/** How long an answer may be served, counted from the instant of its query. */
export interface Life {
  readonly seconds: number;
}

export interface Look {
  /** Other for every answer; empty where there is none. */
  readonly mark: string;
  /** Another one for each time that the lease was taken; empty where nobody has it. */
  readonly holder: string;
}

export interface Lease {
  /** Of the answer that was there when the lease was taken; empty where there was none. */
  readonly mark: string;
  /** Lets the next one have it. Idempotent. */
  free(): Promise<void>;
}
