import type { EngineEnd } from './channel.ts';
import type { EngineProcess } from './engine-process.ts';

/** A query that was sent to the engine. */
export interface Sent {
  readonly process: EngineProcess;
  /** `performance.now()` */
  readonly sentMs: number;
}

/**
 * Finds the queries that may have ended a process, by their tags: once for each process, when its first query fails and the
 * others are still listed.
 *
 * @param running in the order in which they were sent
 */
export function createBlame(running: ReadonlyMap<string, Sent>) {
  const found = new WeakMap<EngineProcess, ReadonlySet<string>>();
  return (process: EngineProcess, end: EngineEnd | undefined): ReadonlySet<string> => {
    const known = found.get(process);
    if (known !== undefined) return known;
    const sent = [...running].filter(([, query]) => query.process === process);
    const tags = new Set(findPossible(sent, end).map(([tag]) => tag));
    found.set(process, tags);
    return tags;
  };
}

/** After a crash, or out of memory, each query that ran may be the cause. */
function findPossible(sent: readonly [string, Sent][], end: EngineEnd | undefined) {
  const { culprit, silence } = end ?? {};
  if (silence === undefined) return culprit === undefined ? sent : sent.filter(([tag]) => tag === culprit);
  // The culprit was sent before the queries that wait behind it, and after the last heartbeat that was answered.
  const before = sent.filter(([, { sentMs }]) => sentMs <= silence.beforeMs);
  const first = before.find(([, { sentMs }]) => sentMs >= silence.afterMs);
  return first === undefined ? before : [first];
}
