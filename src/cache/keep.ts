import type { Endpoint } from '../definitions/endpoint.ts';
import type { Answer } from '../query/run.ts';
import { isOvertaken } from './age.ts';
import type { CacheEntry, CacheStore } from './store.ts';

/** What was asked, and when a caller last did: an entry that leaves the store during its refresh returns no younger. */
export type Asked = Pick<CacheEntry, 'values' | 'lastAskedMs'>;

export interface KeepOptions {
  readonly store: CacheStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** From 0 up to 1; spreads the refreshes of answers that were made together. */
  readonly random: () => number;
}

/** Keeps an answer, unless a later one is there. @returns the answer */
export type Keep = (key: string, endpoint: Endpoint, answer: Answer, asked: Asked) => Answer;

// A refresh comes up to a tenth of the interval early, never late.
const JITTER = 0.1;

export function createKeep({ store, now, random }: KeepOptions): Keep {
  return (key, endpoint, answer, { values, lastAskedMs }) => {
    if (isOvertaken(answer, store.peek(key)?.answer, now())) return answer;
    store.set(key, {
      endpointId: endpoint.id,
      endpointHash: endpoint.hash,
      values,
      answer,
      lastAskedMs: store.get(key)?.lastAskedMs ?? lastAskedMs,
      dueMs: answer.instantMs + intervalMs(endpoint) * (1 - JITTER * random()),
    });
    return answer;
  };
}

/** Between refreshes; Infinity where there are none. */
function intervalMs({ warmingSeconds = Number.POSITIVE_INFINITY }: Endpoint): number {
  return warmingSeconds * 1000;
}
