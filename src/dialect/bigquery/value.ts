import type { ColumnType } from '../../definitions/source.ts';
import { formatInstant, type Micros, parseInstant } from '../../lib/instant.ts';
import { writeValue } from '../../sql/sql.ts';
import { reject } from './parse/tree.ts';

export type TimeType = 'timestamp' | 'datetime' | 'date';

/** What an expression can be cast to. */
export type PlainType = TimeType | 'int64' | 'float64' | 'bool' | 'string';

/** The type of an expression. `json` is what the metadata have at a path: a number in one event, a text in the next. */
export type Type = PlainType | 'json' | 'record' | 'array' | 'null';

/** What an argument may be. `number` is an integer or a float. */
export type TargetType = PlainType | 'number';

/** An expression in ClickHouse's SQL. */
export interface Value {
  readonly type: Type;
  /** The JSON text of a `json` or `record`, NULL if there is none. */
  readonly sql: string;
  /** Given for a `json` or `record`: its SQL by its use. */
  readonly json?: (form: JsonForm) => string;
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

/**
 * What a `json` is read as: a text without its quotes, any other value as its JSON text; a number, or the number in a
 * text, as Float64; a number rounded half away from zero, or the whole number in a text, as Int64; true or false, or the
 * word in a text.
 */
type JsonForm = 'string' | 'number' | 'int64' | 'bool';

type JsonSql = Readonly<Record<'sql' | Exclude<JsonForm, 'bool'>, string>>;

/** A typed column that holds the value at a path if the value has the column's type. */
export interface TypedSql {
  readonly sql: string;
  readonly type: ColumnType;
}

/** Computes a form once, and returns the name for it. */
type Share = (form: JsonForm, sql: string) => string;

/**
 * A value of the metadata.
 * @param raw its JSON text, empty if there is none or it is null
 * @param typed the typed column of its path; then `raw` is empty if the column has the value
 */
export function jsonValue(raw: string, typed?: TypedSql, share?: Share): Value {
  const isText = `startsWith(${raw}, '"')`;
  const string = `multiIf(${isText}, JSONExtractString(${raw}), left(${raw}, 1) IN ('', '{', '['), NULL, ${raw})`;
  const inText = `toInt64OrNull(JSONExtractString(${raw}))`;
  const own: JsonSql = {
    sql: `nullIf(${raw}, '')`,
    string,
    number: finite(string),
    int64: `if(${isText}, ${inText}, ${toInteger(raw, finite(raw))})`,
  };
  if (typed === undefined) return toJson(own, share);
  const isMissing = `isNull(${typed.sql})`;
  const stored = readTyped(typed);
  const text = `ifNull(${stored.string}, ${own.string})`;
  const forms = {
    sql: `if(${isMissing}, ${own.sql}, ${stored.sql})`,
    string: text,
    number: isNumeric(typed) ? `ifNull(${stored.number}, ${own.number})` : finite(text),
    int64: `if(${isMissing}, ${own.int64}, ${stored.int64})`,
  };
  return toJson(forms, share);
}

/** A value of the metadata that its typed column has; what the forms of NULL are is of no matter. */
export function typedValue(typed: TypedSql): Value {
  const forms = readTyped(typed);
  return toJson({ ...forms, sql: `if(isNull(${typed.sql}), NULL, ${forms.sql})` });
}

const isNumeric = ({ type }: TypedSql) => type === 'integer' || type === 'number';

function readTyped(typed: TypedSql): JsonSql {
  const { sql, type } = typed;
  const isText = type === 'string' || type === 'keyword';
  const string = `toString(${sql})`;
  const number = isNumeric(typed) ? `toFloat64(${sql})` : finite(string);
  const int64 = isNumeric(typed) ? toInteger(string, number) : `toInt64OrNull(${string})`;
  return { sql: `${isText ? 'toJSONString' : 'toString'}(assumeNotNull(${sql}))`, string, number, int64 };
}

function toJson({ sql, ...forms }: JsonSql, share: Share = (_, form) => form): Value {
  const all = { ...forms, bool: readBool(forms.string) };
  return { type: 'json', sql, json: (form) => share(form, all[form]) };
}

export function readBool(text: string, other = 'NULL'): string {
  return `multiIf(lower(${text}) = 'true', true, lower(${text}) = 'false', false, ${other})`;
}

function toInteger(text: string, number: string): string {
  return `ifNull(toInt64OrNull(${text}), ${roundToInteger(number)})`;
}

/**
 * A JSON value by which rows are grouped: by its text, so that 200 and "200" are one group. Outside of aggregates it
 * has one of the group's values.
 */
export function groupedValue({ type, sql, json }: Value): Value {
  const string = json?.('string') ?? sql;
  const number = finite(string);
  return { ...toJson({ sql: `any(${sql})`, string, number, int64: toInteger(string, number) }), type };
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

const NUMBERS: readonly Type[] = ['int64', 'float64'];
const TIMES: readonly TimeType[] = ['timestamp', 'datetime', 'date'];

function isTimeType(type: Type | TargetType): type is TimeType {
  return TIMES.some((one) => one === type);
}

export const isJson = ({ type }: { readonly type: Type }) => type === 'json' || type === 'record';
const isNumber = ({ type }: Value) => NUMBERS.includes(type);
export const isTime = ({ type }: Value) => isTimeType(type);

/** A value as a type, where BigQuery converts without a cast: JSON and constants. @throws NotUnderstood */
export function as(value: Value, wanted: TargetType): string {
  const { type, sql, json, text } = value;
  if (json !== undefined)
    return isTimeType(wanted)
      ? readTime(json('string'), wanted)
      : json(wanted === 'float64' ? 'number' : wanted);
  if (type === 'null' || type === wanted || (wanted === 'number' && isNumber(value))) return sql;
  if (wanted === 'float64' && type === 'int64') return `toFloat64(${sql})`;
  if (text !== undefined && isTimeType(wanted)) return instantOf(text, wanted).sql;
  throw reject(`has a ${nameOf(value)} where a ${wanted} belongs`);
}

/** An integer as it is, any other value as a float. @throws NotUnderstood */
export function toNumber(value: Value): Value {
  const type = value.type === 'int64' ? 'int64' : 'float64';
  return { type, sql: as(value, type) };
}

export const nameOf = ({ type, text }: Value) =>
  text === undefined ? type : `text ${JSON.stringify(text.slice(0, 60))}`;

/** A timestamp, datetime or date in a text. NULL for other texts. */
function readTime(text: string, type: TimeType): string {
  const time = `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`;
  return type === 'date' ? `toDate(${time})` : time;
}

/** The instant that a text stands for. @throws NotUnderstood */
export function instantOf(text: string, type: TimeType): Value {
  const micros = parseInstant(text);
  if (micros === undefined || !/^\s*\d{4}-/.test(text))
    throw reject(
      `has ${JSON.stringify(text.slice(0, 60))}, which is not a ${type}; write 2026-11-20 07:00:00`,
    );
  const at = formatInstant(micros);
  const day = `toDate(${writeValue(at.slice(0, 10))})`;
  return { type, sql: type === 'date' ? day : `toDateTime64(${writeValue(at)}, 6, 'UTC')`, instant: micros };
}

/**
 * One type for values that stand in for each other, as in CASE, and each as this type.
 * @throws NotUnderstood if there is none
 */
export function unify(values: readonly Value[]): { readonly type: Type; readonly sqls: readonly string[] } {
  const types = [...new Set(values.map(({ type }) => type))].filter(
    (type) => type !== 'null' && type !== 'json' && type !== 'record',
  );
  if (types.length === 0)
    return { type: values.some(isJson) ? 'json' : 'null', sqls: values.map(({ sql }) => sql) };
  const wanted = common(values, types);
  return { type: wanted, sqls: values.map((value) => as(value, wanted)) };
}

function common(values: readonly Value[], types: readonly Type[]): PlainType {
  const [only, ...more] = types;
  // JSON is read as a float, beside an integer too.
  if (types.every((type) => NUMBERS.includes(type)))
    return only === 'int64' && more.length === 0 && !values.some(isJson) ? 'int64' : 'float64';
  const time = TIMES.find((type) => types.includes(type));
  const others = values.filter(({ type, text }) => type !== time && text === undefined && type !== 'null');
  if (time !== undefined && others.every(isJson)) return time;
  if (more.length === 0 && (only === 'string' || only === 'bool')) return only;
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
