import { keyOfLane } from '../lanes.ts';
import type { EngineEnd } from './channel.ts';
import type { EngineProcess } from './engine-process.ts';

/** A query that was sent to the engine. */
export interface Sent {
  readonly process: EngineProcess;
  readonly lane: string | undefined;
  /** `performance.now()` */
  readonly sentMs: number;
}

/** The cause of an ended process. */
export interface Blame {
  /** Ends are numbered. */
  readonly end: number;
  /** Tags of the queries that may be the cause. */
  readonly tags: ReadonlySet<string>;
  /** All suspects belong to one key, which therefore is the cause. */
  readonly isOfOneKey: boolean;
}

/**
 * Finds the queries that may have ended a process, by their tags: once for each process, when its first query fails and the
 * others are still listed.
 *
 * @param running in the order in which they were sent
 */
export function createBlame(running: ReadonlyMap<string, Sent>) {
  const found = new WeakMap<EngineProcess, Blame>();
  let ends = 0;
  return (process: EngineProcess, end: EngineEnd | undefined): Blame => {
    const known = found.get(process);
    if (known !== undefined) return known;
    const sent = [...running].filter(([, query]) => query.process === process);
    const possible = findPossible(sent, end);
    const keys = new Set(possible.map(([, { lane = '' }]) => keyOfLane(lane)));
    const tags = new Set(possible.map(([tag]) => tag));
    const blame = { end: ++ends, tags, isOfOneKey: keys.size === 1 };
    found.set(process, blame);
    return blame;
  };
}

/** Returns every query that ran: after a crash, or out of memory, each may be the cause. */
function findPossible(sent: readonly [string, Sent][], end: EngineEnd | undefined) {
  const { culprit, silence } = end ?? {};
  if (silence === undefined) return culprit === undefined ? sent : sent.filter(([tag]) => tag === culprit);
  // The culprit was sent before the queries that wait behind it, and after the last heartbeat that got a reply.
  const before = sent.filter(([, { sentMs }]) => sentMs <= silence.beforeMs);
  const first = before.find(([, { sentMs }]) => sentMs >= silence.afterMs);
  return first === undefined ? before : [first];
}
