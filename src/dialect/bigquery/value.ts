import { formatInstant, type Micros, parseInstant } from '../../lib/instant.ts';
import { writeValue } from '../../sql/sql.ts';
import { reject } from './parse/tree.ts';

/** The type of an expression. `json` is what the metadata have at a path: a number in one event, a text in the next. */
export type Type =
  | 'timestamp'
  | 'datetime'
  | 'date'
  | 'int64'
  | 'float64'
  | 'bool'
  | 'string'
  | 'json'
  | 'record'
  | 'array'
  | 'null';

/** An expression in ClickHouse's SQL. */
export interface Value {
  readonly type: Type;
  /** The JSON text of a `json` or `record`, NULL if there is none. */
  readonly sql: string;
  /** What a `json` is read as, by its use. */
  readonly json?: JsonForms;
  /** The value of a text in quotes. */
  readonly text?: string;
  /** The instant of a constant timestamp or datetime. */
  readonly instant?: Micros;
  /** Given for an array, which only approx_quantiles returns. */
  readonly members?: Members | undefined;
  /** The column of a table that it is, for bounds. */
  readonly column?: { readonly table: object; readonly name: string };
}

/** The members of an array: `parts + 1` values of a type. */
export interface Members {
  readonly type: Type;
  readonly parts: number;
}

interface JsonForms {
  /** A text without its quotes, any other value as its JSON text. */
  readonly text: string;
  /** A number, or the number in a text, as Float64. */
  readonly number: string;
  /** A number rounded half away from zero, or the whole number in a text, as Int64. */
  readonly integer: string;
  /** True or false, or the word in a text. */
  readonly bool: string;
}

/** A typed column that holds the value at a path if the value has the column's type. */
export interface TypedSql {
  readonly sql: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
}

/**
 * A value of the metadata.
 *
 * @param raw its JSON text, empty if there is none or it is null
 * @param typed the typed column of its path; then `raw` is empty if the column has the value
 * @param share computes a form once, and returns the name for it
 */
export function jsonValue(raw: string, typed?: TypedSql, share: Share = (_, sql) => sql): Value {
  const own = `multiIf(startsWith(${raw}, '"'), JSONExtractString(${raw}), left(${raw}, 1) IN ('', '{', '['), NULL, ${raw})`;
  const inText = `toInt64OrNull(JSONExtractString(${raw}))`;
  const integer = `if(startsWith(${raw}, '"'), ${inText}, ${toInteger(raw, finite(raw))})`;
  if (typed === undefined)
    return {
      type: 'json',
      sql: `nullIf(${raw}, '')`,
      json: formsOf({ text: own, number: finite(own), integer }, share),
    };
  const { sql, type } = typed;
  const text = `ifNull(toString(${sql}), ${own})`;
  const isNumber = type === 'integer' || type === 'number';
  const number = isNumber ? `ifNull(toFloat64(${sql}), ${finite(own)})` : finite(text);
  const json = `${type === 'string' ? 'toJSONString' : 'toString'}(assumeNotNull(${sql}))`;
  const stored = isNumber
    ? toInteger(`toString(${sql})`, `toFloat64(${sql})`)
    : `toInt64OrNull(toString(${sql}))`;
  return {
    type: 'json',
    sql: `if(isNull(${sql}), nullIf(${raw}, ''), ${json})`,
    json: formsOf({ text, number, integer: `if(isNull(${sql}), ${integer}, ${stored})` }, share),
  };
}

/** A value of the metadata that its typed column has; what the forms of NULL are is of no matter. */
export function typedValue({ sql, type }: TypedSql): Value {
  const isNumber = type === 'integer' || type === 'number';
  const text = `toString(${sql})`;
  const number = isNumber ? `toFloat64(${sql})` : finite(text);
  const integer = isNumber ? toInteger(text, number) : `toInt64OrNull(${text})`;
  const json = `${type === 'string' ? 'toJSONString' : 'toString'}(assumeNotNull(${sql}))`;
  return {
    type: 'json',
    sql: `if(isNull(${sql}), NULL, ${json})`,
    json: formsOf({ text, number, integer }, (_, form) => form),
  };
}

type Share = (form: string, sql: string) => string;

function formsOf({ text, number, integer }: Omit<JsonForms, 'bool'>, share: Share): JsonForms {
  return {
    get text() {
      return share('text', text);
    },
    get number() {
      return share('number', number);
    },
    get integer() {
      return share('integer', integer);
    },
    get bool() {
      return share('bool', `multiIf(lower(${text}) = 'true', true, lower(${text}) = 'false', false, NULL)`);
    },
  };
}

function toInteger(text: string, number: string): string {
  return `ifNull(toInt64OrNull(${text}), ${roundToInteger(number)})`;
}

/**
 * A JSON value by which rows are grouped: by its text, so that 200 and "200" are one group. Outside of aggregates it
 * has one of the group's values.
 */
export function groupedValue({ type, sql, json }: Value): Value {
  return json === undefined
    ? { type, sql }
    : { type, sql: `any(${sql})`, json: formsOf(formsOfText(json.text), (_, form) => form) };
}

function formsOfText(text: string) {
  const number = finite(text);
  return { text, number, integer: toInteger(text, number) };
}

/** `toFloat64OrNull` also reads words such as inf. */
function finite(text: string): string {
  return `ifNotFinite(toFloat64OrNull(${text}), NULL)`;
}

/** NULL beyond Int64. */
export function roundToInteger(float: string): string {
  return `if(abs(${float}) < 9.2e18, toInt64(${roundAway(float)}), NULL)`;
}

/** BigQuery rounds half away from zero, ClickHouse to the even neighbour. */
export function roundAway(float: string): string {
  return `sign(${float}) * floor(abs(${float}) + 0.5)`;
}

/** What an argument may be. `number` is an integer or a float. */
export type TargetType =
  | 'string'
  | 'number'
  | 'int64'
  | 'float64'
  | 'bool'
  | 'timestamp'
  | 'datetime'
  | 'date';

const NUMBERS: readonly Type[] = ['int64', 'float64'];
const TIMES: readonly Type[] = ['timestamp', 'datetime', 'date'];

export const isJson = ({ type }: Value) => type === 'json' || type === 'record';
const isNumber = ({ type }: Value) => NUMBERS.includes(type);
export const isTime = ({ type }: Value) => TIMES.includes(type);

/** A value as a type, where BigQuery converts without a cast: JSON and constants. @throws NotUnderstood */
export function as(value: Value, wanted: TargetType): string {
  const { type, sql, json, text } = value;
  if (json !== undefined) return FORMS[wanted](json);
  if (type === 'null' || type === wanted || (wanted === 'number' && isNumber(value))) return sql;
  if (wanted === 'float64' && type === 'int64') return `toFloat64(${sql})`;
  if (text !== undefined && isTimeType(wanted)) return instantOf(text, wanted).sql;
  throw reject(`has a ${nameOf(value)} where a ${wanted} belongs`);
}

type Json = NonNullable<Value['json']>;

/** What JSON is read as. */
const FORMS: Readonly<Record<TargetType, (json: Json) => string>> = {
  string: ({ text }) => text,
  number: ({ number }) => number,
  float64: ({ number }) => number,
  int64: ({ integer }) => integer,
  bool: ({ bool }) => bool,
  timestamp: ({ text }) => readTime(text, 'timestamp'),
  datetime: ({ text }) => readTime(text, 'datetime'),
  date: ({ text }) => readTime(text, 'date'),
};

export const nameOf = ({ type, text }: Value) =>
  text === undefined ? type : `text ${JSON.stringify(text.slice(0, 60))}`;

function isTimeType(type: TargetType): type is 'timestamp' | 'datetime' | 'date' {
  return type === 'timestamp' || type === 'datetime' || type === 'date';
}

/** A timestamp, datetime or date in a text. NULL for other texts. */
function readTime(text: string, type: 'timestamp' | 'datetime' | 'date'): string {
  const time = `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`;
  return type === 'date' ? `toDate(${time})` : time;
}

/** The instant that a text stands for. @throws NotUnderstood */
export function instantOf(text: string, type: 'timestamp' | 'datetime' | 'date'): Value {
  const micros = parseInstant(text);
  if (micros === undefined || !/^\s*\d{4}-/.test(text))
    throw reject(
      `has ${JSON.stringify(text.slice(0, 60))}, which is not a ${type}; write 2026-11-20 07:00:00`,
    );
  return writeInstant(micros, type);
}

/** A constant. */
function writeInstant(instant: Micros, type: 'timestamp' | 'datetime' | 'date'): Value {
  const iso = formatInstant(instant).replace('T', ' ').replace('Z', '');
  const sql =
    type === 'date'
      ? `toDate(${writeValue(iso.slice(0, 10))})`
      : `toDateTime64(${writeValue(iso)}, 6, 'UTC')`;
  return { type, sql, instant };
}

/**
 * One type for values that stand in for each other, as in CASE, and each as this type.
 *
 * @throws NotUnderstood if there is none
 */
export function unify(values: readonly Value[]): { readonly type: Type; readonly sqls: readonly string[] } {
  const kinds = [...new Set(values.map((value) => (isJson(value) ? 'json' : value.type)))].filter(
    (type) => type !== 'null',
  );
  const types = kinds.filter((type) => type !== 'json');
  if (kinds.length === 0) return { type: 'null', sqls: values.map(({ sql }) => sql) };
  if (types.length === 0) return { type: 'json', sqls: values.map(({ sql }) => sql) };
  const wanted = common(values, types);
  return { type: wanted, sqls: values.map((value) => as(value, wanted)) };
}

function common(values: readonly Value[], types: readonly Type[]): Exclude<TargetType, 'number'> {
  if (types.every((type) => NUMBERS.includes(type))) {
    // JSON is read as a float, beside an integer too.
    return types.length === 1 && types[0] === 'int64' && !values.some(isJson) ? 'int64' : 'float64';
  }
  const time = types.find((type) => TIMES.includes(type));
  const others = values.filter(({ type, text }) => type !== time && text === undefined && type !== 'null');
  if (time !== undefined && others.every(isJson)) return time as 'timestamp'; // TIMES has no others that are not in Wanted
  const [only] = types;
  if (types.length === 1 && (only === 'string' || only === 'bool')) return only;
  throw reject(`has a ${types.join(' and a ')} where one type belongs; cast one of them`);
}

/** Longest SQL of a translation, and of each expression in it. */
export const SQL_CHARS_MAX = 256 * 1024;

/** @throws NotUnderstood if the values have no type in common */
export function compare(operator: string, left: Value, right: Value): string {
  const type = commonOf(left, right, operator);
  return `(${as(left, type)} ${operator === '<>' ? '!=' : operator} ${as(right, type)})`;
}

/** The type by which two values are compared. JSON is read as the other value's type. */
export function commonOf(left: Value, right: Value, operator = '='): TargetType {
  if (isJson(left) && isJson(right)) {
    if (operator === '=' || operator === '!=' || operator === '<>') return 'string';
    throw reject(`compares two fields of the metadata by ${operator}; cast one of them`);
  }
  if (isReadAs(left, right)) return wantedOf(right);
  if (isReadAs(right, left) || left.type === right.type) return wantedOf(left);
  if (isNumber(left) && isNumber(right)) return 'number';
  throw reject(`compares a ${nameOf(left)} with a ${nameOf(right)}; cast one of them`);
}

/** Whether a value is read as another's type. */
function isReadAs(value: Value, other: Value): boolean {
  return isJson(value) || value.type === 'null' || (value.text !== undefined && isTime(other));
}

// A larger integer and its neighbour are the same as floats.
const EXACT_MAX = 2n ** 53n;

function wantedOf({ type, sql }: Value): TargetType {
  if (type === 'int64') return /^\d+$/.test(sql) && BigInt(sql) >= EXACT_MAX ? 'int64' : 'number';
  if (type === 'float64') return 'number';
  return type === 'json' || type === 'record' || type === 'null' || type === 'array' ? 'string' : type;
}
