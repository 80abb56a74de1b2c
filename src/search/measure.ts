import { invalidParameters } from '../query/parameters.ts';
import { toText } from './condition.ts';
import type { Fields } from './field.ts';
import { parseField } from './parse.ts';
import { printField, type SearchField } from './tree.ts';

export const MEASURE_PARAMETER = 'measure';

/** What a histogram computes of a field, besides the number of events. */
export interface Measure {
  readonly name: MeasureName;
  readonly field: SearchField;
}

interface Aggregate {
  /** The engine's function. */
  readonly call: string;
  readonly parameter: string;
  readonly isOfNumbers: boolean;
}

type MeasureName = 'avg' | 'sum' | 'p50' | 'p95' | 'p99' | 'distinct';

/** Functions that are exact, so that the same events give the same answer. */
export const AGGREGATES: Readonly<Record<MeasureName, Aggregate>> = {
  avg: { call: 'avg', parameter: '', isOfNumbers: true },
  sum: { call: 'sum', parameter: '', isOfNumbers: true },
  p50: { call: 'quantileExact', parameter: '(0.5)', isOfNumbers: true },
  p95: { call: 'quantileExact', parameter: '(0.95)', isOfNumbers: true },
  p99: { call: 'quantileExact', parameter: '(0.99)', isOfNumbers: true },
  distinct: { call: 'uniqExact', parameter: '', isOfNumbers: false },
};

const EXAMPLES = ['count', ...Object.keys(AGGREGATES).map((name) => `${name}(field)`)].join(', ');
const CHARS_SHOWN_MAX = 100;
/** Fields of a row whose values are never numbers. */
const NEVER_NUMBERS: ReadonlySet<string> = new Set(['level', 'source', 'timestamp', 'metadata']);

/** Parses `count` or `p95(field)`. @returns `undefined` for `count` @throws TailraceError `invalid_parameter` */
export function parseMeasure(text: string): Measure | undefined {
  const [, name = '', inside] = /^\s*(\w{1,20})\s*(?:\(([\s\S]*)\))?\s*$/.exec(text) ?? [];
  if (name === 'count' && (inside ?? '').trim() === '') return undefined;
  if (name === 'count')
    throw reject('counts events and has no field; write count, or distinct(field) to count values');
  if (!isMeasure(name)) throw reject(`must be one of ${EXAMPLES}, not ${show(text)}`);
  const written = (inside ?? '').trim();
  if (written === '') throw reject(`needs a field, such as ${name}(response.time); ${name}() has none`);
  const field = parseField(written, MEASURE_PARAMETER);
  const printed = printField(field);
  if (AGGREGATES[name].isOfNumbers && NEVER_NUMBERS.has(printed))
    throw reject(`needs a field with numbers, and ${printed} has none; write distinct(${printed})`);
  return { name, field };
}

const reject = (message: string) => invalidParameters([{ parameter: MEASURE_PARAMETER, message }]);
const isMeasure = (name: string): name is MeasureName => Object.hasOwn(AGGREGATES, name);
const show = (text: string) => JSON.stringify(text.slice(0, CHARS_SHOWN_MAX));

/**
 * Writes the state of a measure in the SELECT of a source: of the same type for all sources, in which a field may have
 * different types.
 */
export function writeState(measure: Measure, fields: Fields): string {
  const { call, parameter, isOfNumbers } = AGGREGATES[measure.name];
  const type = isOfNumbers ? 'Float64' : 'String';
  return `${call}State${parameter}(CAST(${writeMeasured(measure, fields)}, 'Nullable(${type})'))`;
}

/** Writes what is measured of an event: a text, or a number, NULL for a text that is not one as JSON writes it. */
export function writeMeasured({ name, field }: Measure, fields: Fields): string {
  const operand = fields.find(field);
  if (!AGGREGATES[name].isOfNumbers) return toText(operand);
  if (operand.kind === 'integer') return `toFloat64(${operand.sql})`;
  if (operand.kind === 'number') return operand.sql;
  return operand.kind === 'text' || operand.kind === 'json'
    ? fields.number(operand.sql).double
    : "CAST(NULL, 'Nullable(Float64)')";
}

/** Writes the measure of states together: NULL without a number. */
export function writeMerged({ name }: Measure, state: string): string {
  const { call, parameter } = AGGREGATES[name];
  return `${call}Merge${parameter}(${state})`;
}

/** Says to a caller that gets no rows that no value was a number. */
export function describeNumbers({ name, field }: Measure): string | undefined {
  if (!AGGREGATES[name].isOfNumbers) return undefined;
  const printed = printField(field);
  return `no number was found in ${printed}, of which ${name} needs some; distinct(${printed}) counts values of any kind`;
}
