import type { Source } from '../definitions/source.ts';

/** The outcome of a request with events: all that were not rejected are stored. */
export interface Received {
  readonly stored: number;
  /** Of rejected events, each once. */
  readonly reasons: readonly string[];
  readonly rejected: number;
  /** Stored events that belong to no project. */
  readonly withoutProject: number;
  /** See `Batch`. */
  readonly repaired: number;
  /** Events that `drop` of their source left out. */
  readonly dropped: number;
}

/** The outcome of a request, with what its response says of each event. */
export interface Receipt extends Received, PerEvent {
  /** The sources of its events. */
  readonly sources: readonly Source[];
}

/** What the response to a request says of single events. */
export interface PerEvent {
  /** Rejected events, at most 1,000 of them, or all if the protocol responds to each event. */
  readonly rejectedItems: readonly RejectedItem[];
  /** What the response says about each event, if the protocol responds to each. */
  readonly echoes?: readonly string[];
}

/** An event of a request that is rejected. */
export interface RejectedItem {
  /** Its place among the events of the request, from 0. */
  readonly at: number;
  /** Completes the sentence "event 3 …". */
  readonly reason: string;
  /** Its project has spent its quota: sent again tomorrow, it is stored. */
  readonly isOverQuota?: true;
}
