import { hash } from 'node:crypto';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import {
  EARLIEST_MICROS,
  LATEST_MICROS,
  MICROS_PER_MINUTE,
  MICROS_PER_MS,
  type Micros,
  parseInstant,
} from '../lib/instant.ts';
import { remember } from '../lib/single-flight.ts';
import type { ParameterValues } from '../query/parameters.ts';
import { AGAINST_PARAMETER } from './analysis/compare.ts';
import { verifyCondition } from './condition.ts';
import { isDeclared } from './field.ts';
import { MEASURE_PARAMETER } from './histogram.ts';
import {
  listNamed,
  parseSearch,
  printField,
  quoteText,
  SEARCH_PARAMETER,
  type SearchField,
  type SearchTree,
} from './parse.ts';
import {
  type PartRequest,
  type Range,
  rejectField,
  SEARCH_PARAMETERS,
  SEARCH_ROWS_MAX,
  type SearchScope,
} from './part.ts';
import { planPart } from './plan.ts';

/** The endpoint of a search before its text is known: its parameters are checked as those of any endpoint. */
export const SEARCH: Endpoint = {
  id: 'search',
  name: 'search',
  description: 'Events of every source, by text and by field.',
  maxRows: SEARCH_ROWS_MAX,
  cachingSeconds: undefined,
  warmingSeconds: undefined,
  sandboxing: false,
  strict: false,
  dialect: undefined,
  bound: undefined,
  charts: [],
  pages: undefined,
  parameters: SEARCH_PARAMETERS,
  pinned: [],
  columns: [],
  sql: '',
  sqlOrigin: 'file',
  fileHash: '',
  hash: '',
  file: '',
  sqlFile: '',
};

/** A search as an endpoint, so that it is run, written and paged as any other. */
export interface CreatedSearch {
  readonly endpoint: Endpoint;
  /** The checked parameters and the other values that the SQL reads. */
  readonly values: ParameterValues;
  /** Describes to a caller that finds nothing what may be wrong with the search; `undefined` if nothing stands out. */
  readonly describeDoubts: () => string | undefined;
}

export interface SearchLimits {
  readonly searchClausesMax?: number | undefined;
}

export interface CreateSearchOptions {
  readonly sources: readonly Source[];
  readonly nowMs: number;
  readonly limits: SearchLimits;
  readonly isTail?: boolean;
  /** See `SearchScope`. */
  readonly mayHaveRows?: SearchScope['mayHaveRows'];
}

// Words, phrases and conditions of a search, else 400: far more than a person writes, and read by the engine within a
// second.
const CLAUSES_MAX = 128;
const DEFAULT_RANGE: Micros = 60 * MICROS_PER_MINUTE;
// Each term is a condition in the SELECT of each source. Reading that SQL blocks the event loop for some 0.1 ms per
// condition.
const CONDITIONS_MAX = 2_048;
// Comparing writes the conditions of two sets.
const SETS = 2;

/**
 * Creates the endpoint that answers a search.
 *
 * @param values of `SEARCH`, checked
 * @param sources that are searched; at least one
 * @param nowMs ms since the epoch, for the range if the caller does not bound it
 * @param isTail whether new rows are followed: the range has no end, and no start unless the caller sets one
 * @throws TailraceError `invalid_parameter`
 */
export function createSearch(values: ParameterValues, options: CreateSearchOptions): CreatedSearch {
  const { sources } = options;
  const request = readRequest(values, options);
  const { scope } = request;
  const { tree } = scope;
  const { fields = [], doubt, values: bounds, ...part } = planPart(request);
  const digest = hashSearch(scope, values);
  return {
    endpoint: { ...SEARCH, ...part, fileHash: digest, hash: digest },
    values: { ...values, ...bounds },
    describeDoubts: () => describeDoubts(tree, { fields, doubt, sources }),
  };
}

/** Parses and checks what every part has: the search and the range. @throws TailraceError `invalid_parameter` */
export function readRequest(
  values: ParameterValues,
  { sources, nowMs, limits, isTail = false, mayHaveRows }: CreateSearchOptions,
): PartRequest {
  const copies = sources.length * (values['part'] === 'compare' ? SETS : 1);
  const clausesMax = Math.min(limits.searchClausesMax ?? CLAUSES_MAX, Math.floor(CONDITIONS_MAX / copies));
  const tree = parseSearch(values[SEARCH_PARAMETER] ?? '', clausesMax);
  const scope: SearchScope = { sources, tree, hasProject: values['project'] !== '', mayHaveRows };
  const range = findRange(values, nowMs, isTail);
  if (tree !== undefined) verifyCondition(tree);
  return { scope, values, range, clausesMax };
}

/** Hashes all that shapes the query except its range of time and its place. */
function hashSearch({ sources, hasProject }: SearchScope, values: ParameterValues): string {
  const shaping = SHAPING.map((name) => values[name]);
  return hash('sha256', JSON.stringify([shaping, hasProject, sources.map(hashSource)]), 'base64url');
}

const SHAPING = [
  SEARCH_PARAMETER,
  AGAINST_PARAMETER,
  MEASURE_PARAMETER,
  'part',
  'limit',
  'by',
  'field',
  'top',
];

// Definitions are replaced, never changed.
const hashSource = remember((source: Source) => hash('sha256', JSON.stringify(source), 'base64url'));

function findRange(values: ParameterValues, nowMs: number, isTail: boolean): Range {
  const now = nowMs * MICROS_PER_MS;
  const end = parseInstant(values['until'] ?? '');
  const start = parseInstant(values['from'] ?? '');
  const until = end ?? (isTail ? LATEST_MICROS : now);
  const from = start ?? (isTail ? EARLIEST_MICROS : until - DEFAULT_RANGE);
  if (isTail && until <= now)
    throw rejectField('until', 'is over, so no new rows can come; leave it out for a live tail');
  if (from < until) return { from, until };
  const message =
    end === undefined
      ? 'must be before now, since there is no "until"'
      : 'must be before "until"; exchange the two, or leave one out';
  throw rejectField('from', message);
}

interface Searched {
  /** Fields that the events are grouped by, or of which something was computed. */
  readonly fields: readonly SearchField[];
  /** Of the part of the search. */
  readonly doubt: string | undefined;
  readonly sources: readonly Source[];
}

const FIELDS_MAX = 5;
const CHARS_MAX = 100;
const cut = (text: string) => text.slice(0, CHARS_MAX);

/** Describes in one line what may be wrong with a search that finds nothing; `undefined` if nothing stands out. */
export function describeDoubts(
  tree: SearchTree | undefined,
  { fields: own, doubt, sources }: Searched,
): string | undefined {
  const fields = [...own, ...(tree === undefined ? [] : listNamed(tree))];
  const doubts = [
    doubt,
    describeUnknown(fields.filter((one) => !sources.some((source) => isDeclared(source, one)))),
    findInTree(tree, (term) => describeColon(term, sources)),
  ].filter((one) => one !== undefined);
  return doubts.length === 0 ? undefined : doubts.join('; ');
}

/** Adds advice to the failure of a search if it is due to its size. */
export function suggestNarrowing(error: unknown): unknown {
  const isOfSize = error instanceof TailraceError && ['query_timeout', 'query_failed'].includes(error.code);
  if (!isOfSize) return error;
  const message = `${error.message}; search a shorter range ("from" and "until"), one "project" or fewer sources`;
  return new TailraceError(error.code, message, { cause: error.cause ?? error });
}

/** Describes undeclared fields: they may be misspelt, or these events may not have them. */
function describeUnknown(fields: readonly SearchField[]): string | undefined {
  const all = [...new Set(fields.map(printField))];
  if (all.length === 0) return undefined;
  const names = all.slice(0, FIELDS_MAX).map(cut);
  const more = all.length > FIELDS_MAX ? ` and ${all.length - FIELDS_MAX} more` : '';
  return `no source declares ${names.join(', ')}${more}: read from the metadata, which may not have it`;
}

/** Describes a text that is read as an undeclared field and its value: a URL, `host:port` or a time. */
function describeColon(term: SearchTree, sources: readonly Source[]): string | undefined {
  if (term.kind !== 'compare' || term.operator !== '=' || term.isQuoted) return undefined;
  const { field, value } = term;
  if (sources.some((source) => isDeclared(source, field))) return undefined;
  const text = `${field.join('.')}:${value.join('*')}`;
  return `to search for the text, put it in quotes: ${quoteText(cut(text))}`;
}

/** Returns the first description of a term. */
function findInTree(
  tree: SearchTree | undefined,
  describe: (term: SearchTree) => string | undefined,
): string | undefined {
  if (tree === undefined) return undefined;
  if ('item' in tree) return findInTree(tree.item, describe);
  if (!('items' in tree)) return describe(tree);
  for (const item of tree.items) {
    const found = findInTree(item, describe);
    if (found !== undefined) return found;
  }
  return undefined;
}
