import type { Grant } from './grant.ts';

/** A search that is kept for a key or a person. Times are ms since the epoch. */
export interface SavedSearch {
  readonly id: string;
  /** `ownerOf` the key, or the id of the person. */
  readonly owner: string;
  /** Unique among those of the owner. */
  readonly name: string;
  /** Query string of the console's page Explore. */
  readonly address: string;
  /** Whom it is shared with: `EVERYBODY`, `toRoleMark` of a role, or empty for nobody. */
  readonly shared: string;
  /** `reachOf` its author when it was saved. */
  readonly reach: string;
  /** Name of the person or key that saved it last. */
  readonly author: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Searches of one owner, at most. */
export const SEARCHES_MAX = 100;

export const EVERYBODY = 'all';

/** Marks a search that is shared with a role. */
export function toRoleMark(role: string): string {
  return `role:${role}`;
}

/**
 * Returns the pinned values and sources of a caller as a text. A search names values of its author's events, so only callers who see the
 * same events, and those whom nothing limits, see it.
 */
export function reachOf({ pins, sources }: Pick<Grant, 'pins' | 'sources'>): string {
  const byName = Object.entries(pins).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([byName, sources?.toSorted() ?? null]);
}

/** Returns the owner of a key's searches: keys that were rotated share them, and the first of these keys owns them. */
export function ownerOf({
  id,
  origin,
}: {
  readonly id: string;
  readonly origin: string | undefined;
}): string {
  return origin ?? id;
}
