import type { Question } from '../../query/question.ts';
import type { Answer } from '../../query/run.ts';

/**
 * The cache behind those of the replicas. It may be unavailable at any time, which is never a failure: every call then returns
 * `undefined`, and the replica goes on alone.
 */
export interface SharedCache {
  /**
   * The answer to a question, its instant by this replica's clock: as old as it is, or older by a round trip, never younger.
   *
   * @returns `none` if there is none that can be trusted
   */
  find(question: Question): Promise<Answer | 'none' | undefined>;
  /** What is stored under a key, without the answer. */
  probe(key: string): Promise<Probe | undefined>;
  /** Takes the lease of a key unless a replica has it: its holder computes the answer, the others wait for that. */
  lease(key: string): Promise<Lease | 'held' | undefined>;
  /**
   * Stores an answer, unless there is a later one.
   *
   * @param lifeSeconds how long it may be served, counted from the instant of its query
   */
  keep(key: string, answer: Answer, lifeSeconds: number): Promise<void>;
  /** The mark under which `find` found an answer or `keep` stored it; `undefined` for one that was never there. */
  markOf(answer: Answer): string | undefined;
}

export interface Probe {
  /** Differs for every answer; empty if there is none. */
  readonly mark: string;
  /** Differs each time that the lease is taken; empty if no replica holds it. */
  readonly holder: string;
}

export interface Lease {
  /** Of the answer that was stored when the lease was taken; empty if there was none. */
  readonly mark: string;
  /** Idempotent. */
  release(): Promise<void>;
}
