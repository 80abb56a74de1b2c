import { hash } from 'node:crypto';
import type { Config } from '../config/config.ts';
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
import { type ParameterValues, rejectParameter } from '../query/parameters.ts';
import { verifyCondition } from './condition.ts';
import { isDeclared } from './field.ts';
import {
  listClauses,
  listNamed,
  parseSearch,
  printField,
  quoteText,
  SEARCH_PARAMETER,
  type SearchClause,
  type SearchField,
} from './parse.ts';
import {
  type PartRequest,
  type PlannedPart,
  type Range,
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

export interface CreateSearchOptions {
  /** At least one. */
  readonly sources: readonly Source[];
  /** ms since the epoch, for the range if the caller does not bound it. */
  readonly nowMs: number;
  readonly limits: Pick<Config, 'searchClausesMax'>;
  /** Whether new rows are followed: the range has no end, and no start unless the caller sets one. */
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
 * Creates the endpoint that answers a search, so that it is run, written and paged as any other.
 *
 * @param values of `SEARCH`, checked
 * @throws TailraceError `invalid_parameter`
 */
export function createSearch(values: ParameterValues, options: CreateSearchOptions) {
  const request = readRequest(values, options);
  const { scope } = request;
  const { fields, doubt, values: bounds, ...part } = planPart(request);
  const digest = hashSearch(scope.sources, values);
  const endpoint: Endpoint = { ...SEARCH, ...part, fileHash: digest, hash: digest };
  return {
    endpoint,
    values: { ...values, ...bounds },
    /** What may be wrong with the search if it finds nothing; `undefined` if nothing stands out. */
    describeDoubts: () => describeDoubts(scope, { fields, doubt }),
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
  const range = findRange(values, nowMs, isTail);
  verifyCondition(tree);
  const { project = '' } = values;
  return { scope: { sources, tree, project, range, mayHaveRows }, values, clausesMax };
}

/** Hashes all that shapes the query except its range of time and its place. */
function hashSearch(
  sources: readonly Source[],
  { source, project, from, until, buckets, ...shaping }: ParameterValues,
): string {
  return hash('sha256', JSON.stringify([shaping, project !== '', sources.map(hashSource)]), 'base64url');
}

// Definitions are replaced, never changed.
const hashSource = remember((source: Source) => hash('sha256', JSON.stringify(source), 'base64url'));

function findRange(values: ParameterValues, nowMs: number, isTail: boolean): Range {
  const now = nowMs * MICROS_PER_MS;
  const end = parseInstant(values['until'] ?? '');
  const start = parseInstant(values['from'] ?? '');
  const until = end ?? (isTail ? LATEST_MICROS : now);
  const from = start ?? (isTail ? EARLIEST_MICROS : until - DEFAULT_RANGE);
  if (isTail && until <= now)
    throw rejectParameter('until', 'is over, so no new rows can come; leave it out for a live tail');
  if (from < until) return { from, until };
  const message =
    end === undefined
      ? 'must be before now, since there is no "until"'
      : 'must be before "until"; exchange the two, or leave one out';
  throw rejectParameter('from', message);
}

const FIELDS_MAX = 5;
const CHARS_MAX = 100;
const cut = (text: string) => text.slice(0, CHARS_MAX);

/** Describes in one line what may be wrong with a search that finds nothing; `undefined` if nothing stands out. */
export function describeDoubts(
  { tree, sources }: Pick<SearchScope, 'tree' | 'sources'>,
  { fields: own = [], doubt }: Partial<Pick<PlannedPart, 'fields' | 'doubt'>>,
): string | undefined {
  const fields = [...own, ...listNamed(tree)];
  const [colon] = listClauses(tree).flatMap((term) => describeColon(term, sources) ?? []);
  const doubts = [
    doubt,
    describeUnknown(fields.filter((one) => !sources.some((source) => isDeclared(source, one)))),
    colon,
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
function describeColon(term: SearchClause, sources: readonly Source[]): string | undefined {
  if (term.kind !== 'compare' || term.operator !== '=' || term.isQuoted) return undefined;
  const { field, value } = term;
  if (sources.some((source) => isDeclared(source, field))) return undefined;
  const text = `${field.join('.')}:${value.join('*')}`;
  return `to search for the text, put it in quotes: ${quoteText(cut(text))}`;
}
