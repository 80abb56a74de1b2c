import { LRUCache } from 'lru-cache';
import type { Rejection } from './collect.ts';

/** The sender of rejected events. */
export interface Sender {
  /** Id of its key, or the name of another way to send. */
  readonly keyId: string;
  /** The project that the key pins; `undefined`: any, so nobody knows whose values the events hold. */
  readonly pinnedProject: string | undefined;
}

/** Events that were rejected for one reason, from one key to one source. Times are ms since the epoch. */
export interface RejectedEvents extends Rejection, Sender {
  readonly firstMs: number;
  readonly lastMs: number;
}

// Beyond it the kind that was seen least recently is dropped; about 3 MB with the longest samples.
const KINDS_MAX = 500;

/** Keeps the events that were rejected since the start, by source, key and reason, with the last sample of each. */
export type RejectedLog = ReturnType<typeof createRejectedLog>;

/** @param now ms since the epoch */
export function createRejectedLog(now: () => number) {
  const kinds = new LRUCache<string, RejectedEvents>({ max: KINDS_MAX });
  return {
    add(rejections: readonly Rejection[], { keyId, pinnedProject }: Sender): void {
      const atMs = now();
      for (const one of rejections) {
        const name = JSON.stringify([one.source, keyId, pinnedProject ?? null, one.pattern]);
        const known = kinds.get(name);
        kinds.set(name, {
          ...one,
          ...{ keyId, pinnedProject },
          count: one.count + (known?.count ?? 0),
          firstMs: known?.firstMs ?? atMs,
          lastMs: atMs,
        });
      }
    },
    /** The kind that was seen last comes first. */
    list: (): RejectedEvents[] => [...kinds.values()],
    /** Forgets the samples and reasons, which may hold values of deleted events. */
    forget(): void {
      kinds.clear();
    },
  };
}
