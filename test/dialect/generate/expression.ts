// One file of more than 250 lines: texts, numbers, instants and conditions are built from each other.
import fc from 'fast-check';
import * as e from '../../../trial/oracle/bigquery/expression.ts';
import { type Expression, quoted } from '../../../trial/oracle/bigquery/expression.ts';
import * as time from '../../../trial/oracle/bigquery/time.ts';
import { isTimestamp, type Value } from '../../../trial/oracle/bigquery/value.ts';
import { MESSAGES, NEWEST, TEXTS } from './event.ts';
import { jsonValue } from './json-value.ts';

/** Chooses; each choice is a part of the value that fast-check repeats and shrinks. */
export type Choose = <T>(...options: readonly T[]) => T;

/** What expressions can be built from at a place of a query. */
export interface Scope {
  readonly choose: Choose;
  readonly texts: readonly Expression[];
  readonly numbers: readonly Expression[];
  /** Whole numbers that only comparisons and casts take. */
  readonly bigs: readonly Expression[];
  readonly instants: readonly Expression[];
  /** Equal to the identifier of one event: such conditions, and those on time, may become bounds of what is read. */
  readonly isOne?: () => Expression;
}

const JSON_PATHS = [
  '$.level',
  '$.status',
  '$.deep.list[1].z',
  "$.deep['x.y']",
  '$.ok',
  '$.none',
  '$.deep',
  '$[1]',
];
const UNITS = ['second', 'minute', 'hour', 'day'] as const;
const TRUNC_UNITS = [...UNITS, 'week', 'month', 'quarter', 'year'] as const;
const PARTS = ['second', 'minute', 'hour', 'day', 'dayofweek', 'month', 'year'] as const;
const FORMATS = ['%Y-%m-%d', '%F %T', '%H:%M:%S', '%Y/%m 100%%'] as const;
const PATTERNS = [
  '^/rest',
  'v1',
  '(?i)error',
  'É',
  '^$',
  '[a-z]+=',
  '\\d{3}',
  '\\| 200 \\|',
  "it's",
  '.',
] as const;
const LIKES = ['%rest%', '/auth/%', '_ET', '%é%', '', '%'] as const;

const micros = (value: Value) => (isTimestamp(value) ? value.timestamp : 0);

/** A text. @param depth how many operations may be nested */
export function string(scope: Scope, depth: number): Expression {
  const { choose } = scope;
  if (depth <= 0) return choose(...scope.texts, ...scope.texts, textLiteral(choose));
  const inner = () => string(scope, depth - 1);
  return choose<() => Expression>(
    () => string(scope, 0),
    () => call('string', choose('lower', 'LOWER'), [inner()], (a) => String(a).toLowerCase()),
    () => call('string', 'concat', [inner(), inner()], (a, b) => `${a}${b}`),
    () => {
      const [a, b] = [inner(), inner()];
      return e.strict('string', `(${a.sql} || ${b.sql})`, [read(a), read(b)], (x, y) => `${x}${y}`);
    },
    () => {
      const [start, length] = [choose(1, 2, 3), choose(0, 2, 40)];
      const of = inner();
      return e.strict('string', `substr(${of.sql}, ${start}, ${length})`, [read(of)], (a) =>
        [...String(a)].slice(start - 1, start - 1 + length).join(''),
      );
    },
    () => castToString(scope, number(scope, 0, 'big')),
    () => {
      const at = choose(...JSON_PATHS);
      const of = scope.texts.find(({ sql }) => sql.endsWith('event_message')) ?? inner();
      return e.strict('string', `json_value(${of.sql}, "${at}")`, [read(of)], (a) =>
        jsonValue(String(a), at),
      );
    },
    () => {
      const [format, of] = [choose(...FORMATS), instant(scope, depth - 1)];
      return e.strict('string', `format_timestamp('${format}', ${of.sql})`, [of], (a) =>
        time.format(format, micros(a)),
      );
    },
    () => either(scope, depth, inner(), textLiteral(choose)),
  )();
}

function read(of: Expression): Expression {
  return e.read('string', of);
}

function call(
  type: e.Type,
  name: string,
  operands: readonly Expression[],
  compute: (...values: Exclude<Value, null>[]) => Value,
): Expression {
  const args = operands.map(({ sql }) => sql).join(', ');
  return e.strict(type, `${name}(${args})`, operands.map(type === 'string' ? read : (one) => one), compute);
}

function castToString({ choose }: Scope, of: Expression): Expression {
  const sql = choose(`cast(${of.sql} as string)`, `safe_cast(${of.sql} as string)`);
  return e.strict('string', sql, [of], (a) => e.castText(a, String));
}

function textLiteral(choose: Choose): Expression {
  const value = choose<string>(...TEXTS, ...MESSAGES);
  const plain = !/["\\\n]/.test(value);
  return e.literal(value, choose(quoted(value), plain ? `"${value}"` : quoted(value)));
}

function intLiteral(choose: Choose): Expression {
  const value = choose(0, 1, 7, 200, 404, 499, 500, 1000);
  return e.literal(value, String(value));
}

/** A number. @param use `big` also gives whole numbers that no float holds, which only some operations take */
export function number(scope: Scope, depth: number, use?: 'big'): Expression {
  const { choose } = scope;
  const bigs = use === 'big' ? scope.bigs : [];
  if (depth <= 0) return choose(...scope.numbers, ...scope.numbers, ...bigs, intLiteral(choose));
  const inner = () => e.read('float', number(scope, depth - 1));
  const whole = () => choose(intLiteral(choose), length(scope));
  return choose<() => Expression>(
    () => number(scope, 0, use),
    () => length(scope),
    () => {
      const of = choose(...scope.numbers, ...bigs, read(string(scope, 0)));
      return e.strict('int', `safe_cast(${of.sql} as int64)`, [of], castInt);
    },
    () => {
      const [a, b, operator] = [inner(), inner(), choose('+', '-', '*')];
      const compute = {
        '+': (x: number, y: number) => x + y,
        '-': (x: number, y: number) => x - y,
        '*': (x: number, y: number) => x * y,
      };
      return arithmetic(
        'float',
        `(${a.sql} ${operator} ${b.sql})`,
        [a, b],
        compute[operator as '+' | '-' | '*'],
      );
    },
    () => {
      const [a, divisor] = [inner(), choose(2, 7, 1000)];
      return arithmetic('float', `(${a.sql} / ${divisor})`, [a], (x) => x / divisor);
    },
    () => {
      const [a, divisor] = [whole(), choose(2, 7)];
      return arithmetic('int', `mod(${a.sql}, ${divisor})`, [a], (x) => x % divisor);
    },
    () => {
      const [a, b] = [inner(), inner()];
      return arithmetic('float', `safe_divide(${a.sql}, ${b.sql})`, [a, b], (x, y) =>
        y === 0 ? null : x / y,
      );
    },
    () => {
      const [part, of] = [choose(...PARTS), instant(scope, depth - 1)];
      return e.strict('int', `extract(${part} from ${of.sql})`, [of], (a) => time.extract(micros(a), part));
    },
    () => {
      const [a, b, unit] = [instant(scope, depth - 1), instant(scope, depth - 1), choose(...UNITS)];
      return e.strict('int', `timestamp_diff(${a.sql}, ${b.sql}, ${unit})`, [a, b], (x, y) =>
        time.difference(micros(x), micros(y), unit),
      );
    },
    () => either(scope, depth, inner(), intLiteral(choose)),
  )();
}

/** A text has to be a whole number; a number is rounded. */
function castInt(value: Value): Value {
  if (typeof value !== 'string') return e.toInt(value);
  return /^-?\d+$/.test(value) ? e.toInt(value) : null;
}

function length(scope: Scope): Expression {
  const of = string(scope, 0);
  return e.strict('int', `length(${of.sql})`, [read(of)], (a) => [...String(a)].length);
}

function arithmetic(
  type: 'int' | 'float',
  sql: string,
  operands: readonly Expression[],
  compute: (...numbers: number[]) => number | null,
): Expression {
  return e.strict(type, sql, operands, (...values) => compute(...values.map(Number)));
}

/** An instant, as a TIMESTAMP. */
export function instant(scope: Scope, depth: number): Expression {
  const { choose } = scope;
  if (depth <= 0) return choose(...scope.instants);
  return choose<() => Expression>(
    () => choose(...scope.instants),
    () => {
      const [unit, of] = [choose(...TRUNC_UNITS), instant(scope, depth - 1)];
      const sql = `timestamp_trunc(${of.sql}, ${choose(unit, unit.toUpperCase())})`;
      return e.strict('timestamp', sql, [of], (a) => time.timestamp(time.truncate(micros(a), unit)));
    },
    () => {
      const [unit, of, count] = [choose(...UNITS), instant(scope, depth - 1), choose(1, 7, 90)];
      const [name, sign] = choose(['timestamp_sub', -1] as const, ['timestamp_add', 1] as const);
      return e.strict('timestamp', `${name}(${of.sql}, interval ${count} ${unit})`, [of], (a) =>
        time.timestamp(micros(a) + sign * count * time.MICROS[unit]),
      );
    },
    () => {
      const literal = instantLiteral(choose);
      return { ...literal, sql: choose(`timestamp(${literal.sql})`, `cast(${literal.sql} as timestamp)`) };
    },
  )();
}

/** A text that a comparison with an instant reads as one. */
function instantLiteral(choose: Choose): Expression {
  const value = NEWEST - choose(0, 1, 3_600_000_000, 86_400_000_000, 2 * 86_400_000_000 + 1);
  const written = time.datetimeText(value, choose('T', ' '));
  return {
    type: 'timestamp',
    sql: `'${written}${choose('Z', '+00:00', '')}'`,
    value: () => time.timestamp(value),
  };
}

/** CASE, IF, COALESCE or IFNULL of a value and a literal, by whose type a path is read. */
function either(scope: Scope, depth: number, of: Expression, b: Expression): Expression {
  const { choose } = scope;
  const a = e.read(b.type, of);
  return choose<() => Expression>(
    () => {
      const when = condition(scope, depth - 1);
      return e.conditional([{ when, result: a }], b, `if(${when.sql}, ${a.sql}, ${b.sql})`);
    },
    () => {
      const branches = [
        { when: condition(scope, depth - 1), result: a },
        { when: condition(scope, depth - 1), result: b },
      ];
      const written = branches.map(({ when, result }) => `when ${when.sql} then ${result.sql}`).join(' ');
      return e.conditional(branches, undefined, `case ${written} end`);
    },
    () => e.coalesce([a, b], `${choose('coalesce', 'ifnull')}(${a.sql}, ${b.sql})`),
  )();
}

/** A condition of WHERE, often with bounds on time. */
export function filter(scope: Scope, depth: number): Expression {
  const { choose } = scope;
  const inner = condition(scope, depth);
  if (choose(true, true, false)) return inner;
  const bounds = ['>', '>=', '<', '<=']
    .filter(() => choose(true, false))
    .map((operator) => e.comparison(operator, choose(...scope.instants), instantLiteral(choose)));
  return connect('and', [...bounds, { ...inner, sql: `(${inner.sql})` }]);
}

/** A condition. */
export function condition(scope: Scope, depth: number): Expression {
  const { choose } = scope;
  const inner = () => condition(scope, depth - 1);
  const simple = [
    () => e.comparison(choose('=', '!=', '<>', '<', '>='), string(scope, depth - 1), textLiteral(choose)),
    () =>
      e.comparison(
        choose('=', '!=', '<', '<=', '>', '>='),
        number(scope, depth - 1, 'big'),
        intLiteral(choose),
      ),
    () => e.comparison(choose('<', '<=', '>', '>='), instant(scope, depth - 1), instantLiteral(choose)),
    scope.isOne ?? (() => e.isNull(choose(...scope.instants), true)),
    () => e.isNull(choose(string(scope, 0), number(scope, 0, 'big')), choose(true, false)),
    () => e.like(read(string(scope, depth - 1)), choose(...LIKES), choose(true, false)),
    () => {
      const [of, pattern] = [string(scope, depth - 1), choose(...PATTERNS)];
      const written = choose(`r"${pattern}"`, quoted(pattern));
      return e.regexpContains(of, pattern, `regexp_contains(${of.sql}, ${written})`);
    },
    () => {
      const [of, start] = [string(scope, depth - 1), textLiteral(choose)];
      const operands = [read(of), start];
      return e.strict('bool', `starts_with(${of.sql}, ${start.sql})`, operands, (a, b) =>
        String(a).startsWith(String(b)),
      );
    },
    () => e.isIn(string(scope, 0), [textLiteral(choose), textLiteral(choose)], choose(true, false)),
    () => e.isIn(number(scope, 0), [intLiteral(choose), intLiteral(choose)], choose(true, false)),
    () => e.between(number(scope, 0, 'big'), intLiteral(choose), intLiteral(choose)),
    () => e.between(choose(...scope.instants), instantLiteral(choose), instantLiteral(choose)),
  ];
  if (depth <= 0) return choose(...simple)();
  return choose<() => Expression>(
    ...simple,
    ...simple,
    () => e.not(inner()),
    () => {
      const operands = [inner(), inner()].map((of) => ({ ...of, sql: `(${of.sql})` }));
      return connect(choose('and', 'or'), operands);
    },
    // Without brackets AND goes first.
    () => connect('or', [choose(...simple)(), connect('and', [choose(...simple)(), choose(...simple)()])]),
  )();
}

function connect(operator: 'and' | 'or', operands: readonly Expression[]): Expression {
  return e.connective(operator, operands, operands.map(({ sql }) => sql).join(` ${operator} `));
}

export function chooser(g: fc.GeneratorValue): Choose {
  return (...options) => g(fc.constantFrom, ...options) as (typeof options)[number]; // one of them
}
