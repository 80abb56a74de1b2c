import type { Endpoint } from '../definitions/endpoint.ts';
import { createParameter, type Parameter } from '../definitions/parameter.ts';
import type { ParameterFields } from '../definitions/parameter-type.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import { invalidParameters, type ParameterValues } from '../query/parameters.ts';
import { SEARCH_FROM, SEARCH_UNTIL, type SearchScope } from './arms.ts';
import { parseField, SEARCH_PARAMETER } from './parse.ts';
import type { SearchField } from './tree.ts';

export const SEARCH_ROWS_MAX = 1_000;
const BUCKETS_MAX = 1_000;
const TOP_MAX = 50;

const FIELDS: Readonly<Record<string, ParameterFields>> = {
  source: {
    type: 'string',
    description: 'Names or UUIDs of sources, joined by commas. Default: every source that the key may read.',
  },
  [SEARCH_PARAMETER]: {
    type: 'string',
    description: 'What to search for, such as `timeout level:error -status:404`. Default: every event.',
  },
  project: { type: 'string', description: 'Only events of this project. A key may pin it.' },
  from: { type: 'timestamp', description: 'First instant. Default: an hour before `until`.' },
  until: { type: 'timestamp', description: 'End, exclusive. Default: now.' },
  limit: {
    type: 'integer',
    min: 1,
    max: SEARCH_ROWS_MAX,
    description:
      'Rows: of a page with `part=rows`, where the default is 100; see docs/search.md for other parts.',
  },
  part: {
    type: 'enum',
    values: ['rows', 'histogram', 'values', 'fields', 'patterns', 'compare'],
    default: 'rows',
    description:
      'The events; how many there are in each time bucket; the top values of a field; a summary of ' +
      'each field; patterns of the messages; or how the events differ from others.',
  },
  buckets: {
    type: 'integer',
    min: 1,
    max: BUCKETS_MAX,
    default: 60,
    description: 'Time buckets from `from` to `until`, with `part=histogram`.',
  },
  measure: {
    type: 'string',
    default: 'count',
    description:
      'Computed for each time bucket and series, with `part=histogram`: count, avg(f), sum(f), ' +
      'p50(f), p95(f), p99(f) or distinct(f) of a field f.',
  },
  top: {
    type: 'integer',
    min: 1,
    max: TOP_MAX,
    description: 'Series, with `part=histogram`: the rest has `"other": true`.',
  },
  by: { type: 'string', default: 'level', description: 'Field of the series, with `part=histogram`.' },
  against: {
    type: 'string',
    description:
      'A search for the events to compare with, with `part=compare`. Default: those that do not match `q`.',
  },
  field: { type: 'string', description: 'Field to count the values of; required with `part=values`.' },
};

/** The parameters that callers may send, besides `format` and `cursor`. */
export const SEARCH_PARAMETERS: readonly Parameter[] = Object.entries(FIELDS).map(([name, fields]) =>
  createParameter(name, fields),
);

/** From `from`, before `until`. */
export interface Range {
  readonly from: Micros;
  readonly until: Micros;
}

/** What a caller asks for, checked but for the parameters of its part. */
export interface PartRequest {
  readonly scope: SearchScope;
  readonly values: ParameterValues;
  readonly range: Range;
  /** Terms that a search may have. */
  readonly clausesMax: number;
}

/** The members of the endpoint that answers one part. */
export interface PlannedPart
  extends Pick<Endpoint, 'columns' | 'maxRows' | 'writeSelect' | 'prepare'>,
    Partial<Pick<Endpoint, 'pages'>> {
  /** The values that the SQL reads besides those of parameters. */
  readonly values: ParameterValues;
  /** The fields that it groups by or measures. */
  readonly fields?: readonly SearchField[];
  /** Why it may find nothing, besides the search. */
  readonly doubt?: string;
}

/** Returns the bounds of a part that has no pages. */
export function boundsOf({ from, until }: Range): ParameterValues {
  return { [SEARCH_FROM]: formatInstant(from), [SEARCH_UNTIL]: formatInstant(until - 1) };
}

/** Returns `limit`, which has another default in each part. */
export function readLimit({ limit = '' }: ParameterValues, otherwise: number): number {
  return limit === '' ? otherwise : Number(limit);
}

/** Parses a field to group by. */
export function readField(values: ParameterValues, parameter: 'by' | 'field'): SearchField {
  const text = values[parameter] ?? '';
  if (text === '') throw rejectField(parameter, 'is required with part=values, such as request.path');
  const field = parseField(text, parameter);
  if (text !== 'timestamp') return field;
  throw rejectField(parameter, 'must be another field than timestamp; part=histogram counts by time');
}

export function rejectField(parameter: string, message: string) {
  return invalidParameters([{ parameter, message }]);
}
