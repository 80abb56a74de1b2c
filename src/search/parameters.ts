import { createParameter, type Parameter } from '../definitions/parameter.ts';
import type { ParameterFields } from '../definitions/parameter-type.ts';
import { SEARCH_PARAMETER } from './parse.ts';

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
