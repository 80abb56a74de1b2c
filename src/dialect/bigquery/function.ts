import type { BigQueryFunction } from './convert.ts';
import { REGEXP_FUNCTIONS } from './regexp.ts';
import { TIME_FUNCTIONS } from './time-function.ts';
import { roundAway } from './value.ts';

const call =
  (name: string) =>
  (...args: string[]) =>
    `${name}(${args.join(', ')})`;

const text = (name: string, args: BigQueryFunction['args'] = ['string']): BigQueryFunction => ({
  args,
  type: 'string',
  write: call(name),
});

const flag = (name: string): BigQueryFunction => ({
  args: ['string', 'string'],
  type: 'bool',
  write: call(name),
});

/** A text from its character at `start`, counted from 1; 0 is the first too, which the engine would take for none. */
function writePart(s: string, start: string, ...count: string[]): string {
  return call('substringUTF8')(s, /^0+$/.test(start) ? '1' : start, ...count);
}

const TEXT_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  lower: text('lowerUTF8'),
  upper: text('upperUTF8'),
  reverse: text('reverseUTF8'),
  trim: { args: ['string'], type: 'string', write: (s) => trimLeft(trimRight(s)) },
  ltrim: { args: ['string'], type: 'string', write: (s) => trimLeft(s) },
  rtrim: { args: ['string'], type: 'string', write: (s) => trimRight(s) },
  concat: { ...text('concat'), isVariadic: true },
  length: { args: ['string'], type: 'int64', write: (s) => `toInt64(lengthUTF8(${s}))` },
  char_length: { args: ['string'], type: 'int64', write: (s) => `toInt64(lengthUTF8(${s}))` },
  starts_with: flag('startsWith'),
  ends_with: flag('endsWith'),
  strpos: {
    args: ['string', 'text'],
    type: 'int64',
    write: (s, part) => `toInt64(positionUTF8(${s}, ${part}))`,
  },
  left: text('leftUTF8', ['string', 'count']),
  right: text('rightUTF8', ['string', 'count']),
  substr: { args: ['string', 'count', 'count'], optional: 1, type: 'string', write: writePart },
  substring: { args: ['string', 'count', 'count'], optional: 1, type: 'string', write: writePart },
  replace: text('replaceAll', ['string', 'text', 'string']),
};

// ClickHouse's trim knows spaces only.
const trimLeft = (s: string) => `replaceRegexpOne(${s}, '^\\\\s+', '')`;
const trimRight = (s: string) => `replaceRegexpOne(${s}, '\\\\s+$', '')`;

const NUMBER_FUNCTIONS: Readonly<Record<string, BigQueryFunction>> = {
  abs: { args: ['float64'], type: 'float64', write: call('abs') },
  sign: { args: ['float64'], type: 'float64', write: call('sign') },
  floor: { args: ['float64'], type: 'float64', write: call('floor') },
  ceil: { args: ['float64'], type: 'float64', write: call('ceil') },
  ceiling: { args: ['float64'], type: 'float64', write: call('ceil') },
  trunc: { args: ['float64'], type: 'float64', write: call('trunc') },
  sqrt: { args: ['float64'], type: 'float64', write: call('sqrt') },
  round: {
    args: ['float64', 'count'],
    optional: 1,
    type: 'float64',
    write: (x, digits) =>
      digits === undefined ? roundAway(x) : `(${roundAway(`(${x} * exp10(${digits}))`)}) / exp10(${digits})`,
  },
  mod: { args: ['int64', 'int64'], type: 'int64', write: call('modulo') },
  div: { args: ['int64', 'int64'], type: 'int64', write: call('intDiv') },
  safe_divide: {
    args: ['float64', 'float64'],
    type: 'float64',
    write: (a, b) => `${a} / nullIf(${b}, 0)`,
  },
};

/** Every function that takes values and gives a value, by name in lower case. A member a function. */
export const FUNCTIONS: ReadonlyMap<string, BigQueryFunction> = new Map(
  Object.entries({ ...TEXT_FUNCTIONS, ...REGEXP_FUNCTIONS, ...NUMBER_FUNCTIONS, ...TIME_FUNCTIONS }),
);
