import {
  containing,
  type SearchField,
  type SearchFilter,
  type SearchQuestion,
  type SearchScope,
} from './question.ts';

/** A kind of question, asked in each scope with other values each time. */
export interface SearchKind {
  readonly name: string;
  readonly part: SearchQuestion['part'];
  /** @param identifier of one event of the project */
  readonly filter?: (scope: SearchScope, identifier: string) => SearchFilter;
  readonly field?: (scope: SearchScope) => SearchField;
  /** The goal over HTTP with 10 M rows, ms. */
  readonly belowMs?: number;
}

export const SEARCH_KINDS: readonly SearchKind[] = [
  {
    name: 'newest 100 with a field',
    part: 'rows',
    // The rivals have the level of an event as a column; ours computes it.
    filter: (scope) =>
      scope === 'one source'
        ? { q: 'response.status_code:>=500', sql: 'status_code >= 500' }
        : { q: 'level:error', sql: "level = 'error'" },
    belowMs: 60,
  },
  {
    name: 'the event with an identifier in its message',
    part: 'rows',
    filter: (_, identifier) => containing(identifier),
    belowMs: 300,
  },
  { name: 'a word that is nowhere', part: 'rows', filter: () => containing('segmentation'), belowMs: 300 },
  { name: 'counts in 60 buckets by level', part: 'histogram', belowMs: 150 },
  { name: 'counts of a phrase', part: 'histogram', filter: () => containing('stripe-webhook') },
  {
    name: 'top values of a field',
    part: 'values',
    field: (scope) =>
      scope === 'one source' ? { name: 'request.path', column: 'path' } : { name: 'level', column: 'level' },
  },
];
