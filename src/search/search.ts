import { hash } from 'node:crypto';
import type { Endpoint, ResultColumn } from '../definitions/endpoint.ts';
import type { Source } from '../definitions/source.ts';
import {
  EARLIEST_MICROS,
  formatInstant,
  LATEST_MICROS,
  MICROS_PER_MINUTE,
  MICROS_PER_MS,
  type Micros,
  parseInstant,
} from '../lib/instant.ts';
import { remember } from '../lib/remember.ts';
import { invalidParameters, type ParameterValues } from '../query/parameters.ts';
import { verifyCondition } from './condition.ts';
import { describeDoubts } from './hint.ts';
import { SEARCH_PARAMETERS, SEARCH_ROWS_MAX } from './parameters.ts';
import { parseField, parseSearch, SEARCH_PARAMETER } from './parse.ts';
import {
  SEARCH_FROM,
  SEARCH_UNTIL,
  SEARCH_WIDTH,
  SERIES_ROWS_MAX,
  type SearchScope,
  VALUES_MAX,
  type WriteSearch,
  writeHistogram,
  writeRows,
  writeValues,
} from './statement.ts';
import type { SearchField } from './tree.ts';

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
  repeatedColumns: [],
  bucket: undefined,
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
  readonly searchClausesMax: number;
}

export interface CreateSearchOptions {
  readonly sources: readonly Source[];
  readonly nowMs: number;
  readonly limits: SearchLimits;
  readonly isTail?: boolean;
}

const DEFAULT_RANGE: Micros = 60 * MICROS_PER_MINUTE;
// Each term is a condition in the SELECT of each source. Reading that SQL blocks the event loop for some 0.1 ms per condition.
const CONDITIONS_MAX = 2_048;

/**
 * Creates the endpoint that answers a search.
 *
 * @param values of `SEARCH`, checked
 * @param sources that are searched; at least one
 * @param nowMs ms since the epoch, for the range if the caller does not bound it
 * @param isTail whether new rows are followed: the range has no end, and no start unless the caller sets one
 * @throws TailraceError `invalid_parameter`
 */
export function createSearch(
  values: ParameterValues,
  { sources, nowMs, limits, isTail = false }: CreateSearchOptions,
): CreatedSearch {
  const clausesMax = Math.min(limits.searchClausesMax, Math.floor(CONDITIONS_MAX / sources.length));
  const tree = parseSearch(values[SEARCH_PARAMETER] ?? '', clausesMax);
  const scope: SearchScope = { sources, tree, hasProject: values['project'] !== '' };
  const range = findRange(values, nowMs, isTail);
  if (tree !== undefined) verifyCondition(tree);
  const { field, part, writeSelect } = planPart(scope, values, range);
  const digest = hashSearch(scope, values);
  return {
    endpoint: { ...SEARCH, ...part, writeSelect, fileHash: digest, hash: digest },
    values: { ...values, ...part.values },
    describeDoubts: () => describeDoubts(tree, { field, sources }),
  };
}

/** Hashes all that shapes the query except its range of time and its place. */
function hashSearch({ sources, hasProject }: SearchScope, values: ParameterValues): string {
  const shaping = SHAPING.map((name) => values[name]);
  return hash('sha256', JSON.stringify([shaping, hasProject, sources.map(hashSource)]), 'base64url');
}

const SHAPING = [SEARCH_PARAMETER, 'part', 'limit', 'by', 'field'];

// Definitions are replaced, never changed.
const hashSource = remember((source: Source) => hash('sha256', JSON.stringify(source), 'base64url'));

/** From `from`, before `until`. */
interface Range {
  readonly from: Micros;
  readonly until: Micros;
}

function findRange(values: ParameterValues, nowMs: number, isTail: boolean): Range {
  const now = nowMs * MICROS_PER_MS;
  const end = parseInstant(values['until'] ?? '');
  const start = parseInstant(values['from'] ?? '');
  const until = end ?? (isTail ? LATEST_MICROS : now);
  const from = start ?? (isTail ? EARLIEST_MICROS : until - DEFAULT_RANGE);
  if (isTail && until <= now)
    throw refuseField('until', 'is over, so no new rows can come; leave it out for a live tail');
  if (from < until) return { from, until };
  const message =
    end === undefined
      ? 'must be before now, since there is no "until"'
      : 'must be before "until"; exchange the two, or leave one out';
  throw refuseField('from', message);
}

interface Part extends Pick<Endpoint, 'columns' | 'maxRows' | 'pages'> {
  readonly values: ParameterValues;
}

interface PlannedPart {
  readonly part: Part;
  readonly writeSelect: WriteSearch;
  /** The field by which it groups. */
  readonly field?: SearchField;
}

function planPart(scope: SearchScope, values: ParameterValues, range: Range): PlannedPart {
  if (values['part'] === 'histogram') return planHistogram(scope, values, range);
  if (values['part'] === 'values') {
    const field = readField(values, 'field');
    const part = { columns: VALUE_COLUMNS, maxRows: VALUES_MAX, pages: undefined, values: boundsOf(range) };
    return { writeSelect: writeValues(scope, field), part, field };
  }
  const size = Number(values['limit']);
  const pages = {
    by: [
      { name: 'timestamp', type: 'integer', isDescending: true },
      ...['id', 'source', 'project'].map((name) => ({ name, type: 'string', isDescending: true }) as const),
    ],
    size,
    sources: scope.sources,
    canSkip: true, // each source adds as many rows
    range: { after: AFTER, until: SEARCH_UNTIL },
  } as const;
  const bounds = { [AFTER]: formatInstant(range.from - 1), [SEARCH_UNTIL]: formatInstant(range.until - 1) };
  const part = { columns: ROW_COLUMNS, maxRows: size, pages, values: bounds };
  return { writeSelect: writeRows(scope, size), part };
}

/** The exclusive lower bound of pages. */
const AFTER = 'search_after';

function boundsOf({ from, until }: Range): ParameterValues {
  return { [SEARCH_FROM]: formatInstant(from), [SEARCH_UNTIL]: formatInstant(until - 1) };
}

function planHistogram(scope: SearchScope, values: ParameterValues, range: Range): PlannedPart {
  const field = readField(values, 'by');
  const name = values['by'] ?? '';
  if (!/^[\w.@$-]{1,200}$/.test(name) || name === 'count')
    throw refuseField(
      'by',
      'must have only letters, digits, _, -, @, $ and dots; write metadata.count for a field "count"',
    );
  const buckets = Number(values['buckets']);
  const width = Math.ceil((range.until - range.from) / buckets);
  const columns: ResultColumn[] = [
    {
      name: 'timestamp',
      type: 'integer',
      description: 'Start of the time bucket, microseconds since the epoch, UTC.',
    },
    { name, type: 'string', description: 'Value of the field.' },
    COUNT,
  ];
  const part: Part = {
    columns,
    maxRows: buckets * SERIES_ROWS_MAX,
    pages: undefined,
    values: { ...boundsOf(range), [SEARCH_WIDTH]: String(width) },
  };
  return { writeSelect: writeHistogram(scope, field, name), part, field };
}

const COUNT: ResultColumn = { name: 'count', type: 'integer', description: 'Number of events.' };
const VALUE_COLUMNS: readonly ResultColumn[] = [
  { name: 'value', type: 'string', description: 'Value of the field.' },
  COUNT,
];
const ROW_COLUMNS: readonly ResultColumn[] = [
  { name: 'source', type: 'string', description: 'Name of the source.' },
  { name: 'id', type: 'string', description: 'Identifier of the event.' },
  {
    name: 'timestamp',
    type: 'integer',
    description: 'Time of the event, microseconds since the epoch, UTC.',
  },
  { name: 'project', type: 'string', description: 'Project of the event.' },
  { name: 'level', type: 'string', description: 'trace, debug, info, warn, error, fatal or null.' },
  { name: 'event_message', type: 'string', description: 'Message of the event.' },
  { name: 'metadata', type: 'json', description: 'Attributes of the event, exactly as received.' },
];

/** Parses a field to group by. */
function readField(values: ParameterValues, parameter: 'by' | 'field'): SearchField {
  const text = values[parameter] ?? '';
  if (text === '') throw refuseField(parameter, 'is required with part=values, such as request.path');
  const field = parseField(text, parameter);
  if (text !== 'timestamp') return field;
  throw refuseField(parameter, 'must be another field than timestamp; part=histogram counts by time');
}

function refuseField(parameter: string, message: string) {
  return invalidParameters([{ parameter, message }]);
}
