import type { Endpoint } from '../definitions/endpoint.ts';
import type { Answer } from '../query/run.ts';
import { isYoungerAt } from './age.ts';
import type { Asked, Keep } from './keep.ts';
import type { QueryFlights } from './query-flights.ts';
import type { CacheStore } from './store.ts';

export interface FindKeptParts {
  readonly store: CacheStore;
  readonly keep: Keep;
  readonly flights: Pick<QueryFlights, 'findShared'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** A kept answer younger than so many seconds: this replica's, or else another's, which is kept here from then on. */
export type FindKept = (
  question: { readonly key: string; readonly endpoint: Endpoint; readonly asked: Asked },
  seconds: number,
) => Promise<Answer | undefined>;

/** For callers for whom no query is to be run, or none can be. */
export function createFindKept({ store, keep, flights, now }: FindKeptParts): FindKept {
  return async ({ key, endpoint, asked }, seconds) => {
    const own = store.get(key)?.answer;
    if (own !== undefined && isYoungerAt(now(), own, seconds)) return own;
    const answer = seconds === 0 ? undefined : await flights.findShared(key, endpoint);
    if (answer === undefined || !isYoungerAt(now(), answer, seconds)) return undefined;
    return keep(key, endpoint, answer, asked);
  };
}
