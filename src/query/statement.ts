import { LRUCache } from 'lru-cache';
import type { Endpoint, ResultColumn, ResultType } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_SKIP } from '../definitions/pages.ts';
import { type Parameter, PINNED_PREFIX } from '../definitions/parameter.ts';
import type { FileFormat, QueryOptions, WriteStatement } from '../engine/engine.ts';
import { findOptionalConditions } from '../sql/optional-condition.ts';
import { applyEdits, createRewriter, type Edit, findLimit, findParameters } from '../sql/parse.ts';
import { getValue, type Values, writeValue } from '../sql/sql.ts';
import { removeUnused } from '../sql/with-list.ts';
import { type Format, JSON_FORMAT } from './format.ts';
import { bindPosition, serviceValues, UNBOUNDED, writeCursorColumn, writeCursorValue } from './position.ts';
import { writeSamples } from './prometheus.ts';
import type { Question } from './question.ts';

/** A statement as the engine gets it. */
interface Statement<Sql = string> {
  readonly sql: Sql;
  readonly format: QueryOptions['format'];
}

// Kept statements of one endpoint: one for each format and each choice of optional conditions.
const STATEMENTS_MAX = 100;

const createOwn = ({ sql }: Endpoint) => ({
  /** Parameters of the conditions that are decided before the engine. */
  optional: findOptionalConditions(sql).map(({ name }) => name),
  byKind: new LRUCache<string, Statement>({ max: STATEMENTS_MAX }),
});

/** Returns a function that finds the statement of a question: one for all of a kind, unless the endpoint writes it late. */
export function createStatements() {
  const known = new WeakMap<Endpoint, ReturnType<typeof createOwn>>();
  return (
    { endpoint, format }: Pick<Question, 'endpoint' | 'format'>,
    bound: Values,
  ): Statement<string | WriteStatement> => {
    const { writeSelect } = endpoint;
    if (writeSelect !== undefined)
      return createLateStatement(endpoint, writeSelect, { answerFormat: format, values: bound });
    const own = known.get(endpoint) ?? createOwn(endpoint);
    known.set(endpoint, own);
    const empty = own.optional.filter((name) => bound[name] === '' || bound[name] === UNBOUNDED);
    const kind = `${format.name} ${bound[PAGE_SKIP] ? 'on' : ''} ${empty}`;
    const found = own.byKind.get(kind);
    if (found !== undefined) return found;
    const decided = { ...bound, ...Object.fromEntries(empty.map((name) => [name, ''])) };
    const statement = createStatement(endpoint, format, decided);
    own.byKind.set(kind, statement);
    return statement;
  };
}

type AnswerFormat = Pick<Format, 'engineFormat' | 'isOfSamples'>;

/**
 * The SQL that answers an endpoint in a format: the stored query, or a caller's SELECT, as a subquery, since ClickHouse
 * keeps the order of its rows; around it the declared columns as the format needs them, cut at max rows (spec 8). What
 * the stored query does not read is left out, since the engine would parse it for each request; the check of a
 * definition shows the engine all.
 *
 * @param values of the question, by which parts may be left out; none: the statement answers any question
 */
export function createStatement(
  endpoint: Endpoint,
  answerFormat: AnswerFormat = JSON_FORMAT,
  values: Values = {},
): Statement {
  const { sql } = endpoint;
  const decided = decideConditions(endpoint, values);
  const query = applyEdits(sql, [...decided, ...removeUnused(sql, decided), ...findTypeEdits(endpoint)]);
  const skip = values[PAGE_SKIP] ? ` OFFSET CAST(@${PAGE_SKIP}, 'UInt64')` : ''; // the rows that the page before has sent
  const isLimited = findLimit(sql) !== undefined;
  const checks = writePatternChecks(endpoint);
  const from = isLimited ? `${query}\n${skip}` : query; // a comment may end the query
  return writeAround(endpoint, answerFormat, { from, checks, skip: isLimited ? '' : skip });
}

/** The same for an endpoint that writes its query late, with its values. @param write of the endpoint */
export function createLateStatement(
  endpoint: Endpoint,
  write: NonNullable<Endpoint['writeSelect']>,
  { answerFormat = JSON_FORMAT, values }: { readonly answerFormat?: AnswerFormat; readonly values: Values },
): Statement<WriteStatement> {
  const around = (from: string) => writeAround(endpoint, answerFormat, { from, checks: '', skip: '' });
  const cursors = new Map(endpoint.pages?.by.map((column) => [CURSOR_PREFIX + column.name, column]));
  const writeName = (name: string) => {
    const [cursor, value] = [cursors.get(name), getValue(values, name)];
    return cursor === undefined ? writeValue(value) : writeCursorValue(cursor, String(value));
  };
  return { sql: () => around(write(writeName)).sql, format: around('').format };
}

/** Edits of those optional conditions of an endpoint that the values decide. */
function decideConditions(endpoint: Endpoint, values: Values): Edit[] {
  return findOptionalConditions(endpoint.sql).flatMap(({ name, isText, ifEmpty, ifGiven }) => {
    if (!Object.hasOwn(values, name) || isText !== isBoundAsText(endpoint, name)) return [];
    return values[name] === '' ? ifEmpty : ifGiven;
  });
}

/** Whether an empty value reaches the SQL as the empty text; NULL otherwise. */
function isBoundAsText({ parameters, pages }: Endpoint, name: string): boolean {
  const isOfCursor = pages?.by.some((column) => CURSOR_PREFIX + column.name === name) === true;
  return !isOfCursor && (parameters.find((one) => one.name === name)?.sqlType ?? 'String') === 'String';
}

/** Compiles every pattern while the query is analysed: one that RE2 rejects would fail only if there are rows to match. */
function writePatternChecks({ parameters }: Endpoint): string {
  const patterns = parameters.filter(({ isPattern }) => isPattern);
  const checks = patterns.map(({ name }) => `NOT ignore(replaceRegexpOne('', @${name}, ''))`);
  return checks.length === 0 ? '' : ` WHERE ${checks.join(' AND ')}`;
}

/** Edits that make each parameter a value of its type: the engine gets its canonical text. */
function findTypeEdits(endpoint: Endpoint): Edit[] {
  const { sql, parameters, pages } = endpoint;
  const typed = new Map(parameters.map((parameter) => [parameter.name, writeTyped(parameter)]));
  for (const column of pages?.by ?? []) typed.set(CURSOR_PREFIX + column.name, writeCursorColumn(column));
  return findParameters(sql).flatMap(({ name, start, end }) => {
    const text = typed.get(name);
    return text === undefined ? [] : { start, end, text };
  });
}

function writeTyped({ name, sqlType, required, fallback }: Parameter): string {
  if (sqlType === 'String') return `@${name}`;
  if (required || fallback !== '') return `CAST(@${name}, '${sqlType}')`;
  return `CAST(nullIf(@${name}, ''), 'Nullable(${sqlType})')`;
}

function writeAround(
  endpoint: Endpoint,
  { engineFormat, isOfSamples }: AnswerFormat,
  { from, checks, skip }: Record<'from' | 'checks' | 'skip', string>,
): Statement {
  const rows = `FROM (\n${from}\n)${checks} LIMIT ${endpoint.maxRows}${skip}`;
  if (isOfSamples) return { sql: writeSamples(endpoint, `SELECT * ${rows}`), format: engineFormat };
  const { selected, format } = writeList(endpoint, engineFormat);
  return { sql: `SELECT ${selected} ${rows}`, format };
}

/** The list of the outermost SELECT, and how the engine writes its rows. */
function writeList({ columns, timeColumns = [] }: Endpoint, format: QueryOptions['format']) {
  if (columns.length === 0) return { selected: writeTimes(timeColumns, format), format }; // a caller's SELECT
  const isJson = format === 'JSONEachRow' || format === 'JSON';
  if (isJson && columns.some(({ type }) => type === 'json'))
    return { selected: writeRowAsText(columns), format: TEXT_FORMATS[format] };
  const types = Object.hasOwn(FILE_COLUMNS, format) ? FILE_COLUMNS[format as FileFormat] : {}; // its keys are the formats
  const items = columns.map(({ name, type }) => {
    const written = types[type]?.(identifier(name));
    return written === undefined ? identifier(name) : `${written} AS ${identifier(name)}`;
  });
  return { selected: items.join(', '), format };
}

/** All columns, with times as ISO 8601 unless the format has a type for them. */
function writeTimes(timeColumns: readonly string[], format: QueryOptions['format']): string {
  if (timeColumns.length === 0 || format === 'ArrowStream' || format === 'Parquet') return '*';
  const times = timeColumns.map((name) => `replaceOne(toString(\`${name}\`), ' ', 'T') AS \`${name}\``);
  return `* REPLACE (${times.join(', ')})`;
}

/** For rows that the engine joins to texts itself. */
const TEXT_FORMATS = { JSONEachRow: 'TSVRaw', JSON: 'JSONCompact' } as const;

/**
 * A row as JSON, concatenated by the engine, for results with a `json` column: JSONEachRow would quote the column's
 * text, which has to stand in the row as it is. Ingest keeps that text to one line of valid JSON.
 */
function writeRowAsText(columns: readonly ResultColumn[]): string {
  const members = columns.map(({ name, type }, i) => {
    const label = writeValue(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    const column = identifier(name);
    return `${label}, ${type === 'json' ? jsonText(column) : `ifNull(toJSONString(${column}), 'null')`}`;
  });
  return `concat(${members.join(', ')}, '}')`;
}

const jsonText = (column: string) => `ifNull(nullIf(${column}, ''), 'null')`;

type ColumnTypes = Partial<Record<ResultType, (column: string) => string>>;

const TEXTS: ColumnTypes = {
  string: (column) => `toValidUTF8(toString(${column}))`,
  json: jsonText,
};
/** Other types of the engine would reach readers as they are, such as decimals, or bytes instead of a UUID. */
const TYPED: ColumnTypes = {
  ...TEXTS,
  // Fails for an integer above Int64, which toInt64 would change silently.
  integer: (column) => `accurateCast(${column}, if(isNullable(${column}), 'Nullable(Int64)', 'Int64'))`,
  number: (column) => `toFloat64(${column})`,
};
const FILE_COLUMNS: Readonly<Record<FileFormat, ColumnTypes>> = {
  CSVWithNames: TEXTS,
  ArrowStream: TYPED,
  Parquet: TYPED,
};

function identifier(name: string): string {
  return `\`${name}\``; // proven by the definition's schema to be letters, digits and underscores
}

/** Returns the stored query with a value for each parameter. Default: samples. */
export function createSampleSql(endpoint: Endpoint, values = sampleValues(endpoint)): string {
  const typed = applyEdits(endpoint.sql, findTypeEdits(endpoint));
  return createRewriter(typed)((name) => writeValue(values[name] ?? ''));
}

const SAMPLE_MS = Date.UTC(2026, 0, 1);

/** Returns a value that its declaration allows for each parameter. */
export function sampleValues(endpoint: Endpoint): Values {
  const values: Record<string, string> = Object.fromEntries(
    endpoint.parameters.map(({ name, sample }) => [name, sample]),
  );
  for (const name of endpoint.pinned) values[PINNED_PREFIX + name] = values[name] ?? '';
  return {
    ...values,
    ...endpoint.bound,
    ...bindPosition(endpoint.pages),
    ...serviceValues(endpoint, values, { instantMs: SAMPLE_MS }),
  };
}
