import type { Search } from '../search/search.ts';

/** The same search in the range of the same length that ends where this one begins. */
export function toBefore(search: Search): Search {
  const lengthMs = search.untilMs - search.fromMs;
  return { ...search, fromMs: search.fromMs - lengthMs, untilMs: search.fromMs };
}
