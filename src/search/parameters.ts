import { createParameter, type Parameter } from '../definitions/parameter.ts';
import type { ParameterFields } from '../definitions/parameter-type.ts';
import { SEARCH_PARAMETER } from './parse.ts';

export const SEARCH_ROWS_MAX = 1_000;
const BUCKETS_MAX = 1_000;

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
    default: 100,
    description: 'Rows of a page, with `part=rows`.',
  },
  part: {
    type: 'enum',
    values: ['rows', 'histogram', 'values'],
    default: 'rows',
    description: 'The events; how many there are in each time bucket; or the top values of a field.',
  },
  buckets: {
    type: 'integer',
    min: 1,
    max: BUCKETS_MAX,
    default: 60,
    description: 'Time buckets from `from` to `until`, with `part=histogram`.',
  },
  by: { type: 'string', default: 'level', description: 'Field of the series, with `part=histogram`.' },
  field: { type: 'string', description: 'Field to count the values of; required with `part=values`.' },
};

/** The parameters that callers may send, besides `format` and `cursor`. */
export const SEARCH_PARAMETERS: readonly Parameter[] = Object.entries(FIELDS).map(([name, fields]) =>
  createParameter(name, fields),
);
