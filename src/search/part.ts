import type { Endpoint } from '../definitions/endpoint.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import { invalidParameters, type ParameterValues } from '../query/parameters.ts';
import { SEARCH_FROM, SEARCH_UNTIL, type SearchScope } from './arms.ts';
import type { Measure } from './measure.ts';
import { parseField } from './parse.ts';
import type { SearchField } from './tree.ts';

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
  /** The field by which it groups. */
  readonly field?: SearchField;
  readonly measure?: Measure;
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
