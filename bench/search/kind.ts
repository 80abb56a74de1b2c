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
  /** Whether only Tailrace is asked, about the events of all projects. */
  readonly isOwn?: boolean;
  /** The goal over HTTP with `goalRows`, ms. */
  readonly belowMs?: number;
  /** Default: 10 M. */
  readonly goalRows?: number;
}

const MILLION = 1_000_000;

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
  { name: 'patterns of messages', part: 'patterns', isOwn: true, belowMs: 1_000, goalRows: MILLION },
  {
    name: 'errors compared with the rest',
    part: 'compare',
    filter: () => ({ q: 'level:error', sql: '' }), // no rival is asked
    isOwn: true,
    belowMs: 2_000,
    goalRows: MILLION,
  },
  { name: 'fields', part: 'fields', isOwn: true },
];
