import type { Endpoint, ResultColumn, ResultType } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_SKIP } from '../definitions/pages.ts';
import type { Parameter } from '../definitions/parameter.ts';
import type { FileFormat, QueryOptions } from '../engine/engine.ts';
import { applyEdits, type Edit } from '../sql/edit.ts';
import { type FinalSelect, findFinalSelect, findLimit, type SelectItem } from '../sql/final-select.ts';
import { findOptionalConditions } from '../sql/optional-condition.ts';
import { createRewriter, findParameters } from '../sql/parameter.ts';
import { getValue, type Values, writeValue } from '../sql/quote.ts';
import { removeUnused } from '../sql/with-list.ts';
import { type Format, JSON_FORMAT } from './format.ts';
import { writeCursorColumn, writeCursorValue } from './position.ts';
import { arePlainPatterns } from './question.ts';

export interface Statement {
  readonly sql: string;
  readonly format: QueryOptions['format'];
}

/**
 * The SQL that answers an endpoint in a format: the declared columns of the stored query, or all of a caller's SELECT, cut at
 * max rows (spec 8). What the stored query does not read is left out, since the engine would parse it for each request; the check of a
 * definition shows the engine all.
 *
 * @param values of the question, by which parts may be left out; none: the statement answers any question
 */
export function createStatement(
  endpoint: Endpoint,
  answerFormat: Pick<Format, 'engineFormat' | 'lines'> = JSON_FORMAT,
  values: Values = {},
): Statement {
  const { engineFormat } = answerFormat;
  const { isJson, joinsText, format } = findRowForm(endpoint, engineFormat);
  const skip = values[PAGE_SKIP] ? writeSkip(`@${PAGE_SKIP}`) : '';
  const { sql } = endpoint;
  const decided = decideConditions(endpoint, values);
  const edits = [...decided, ...removeUnused(sql, decided), ...findTypeEdits(endpoint)];
  const checks = arePlainPatterns(endpoint, values) ? '' : patternChecks(endpoint);
  const isFlat = isJson && endpoint.sqlOrigin === 'file' && checks === '';
  const flat = isFlat ? writeFlat(endpoint, findFinalSelect(sql, edits), joinsText) : undefined;
  if (flat !== undefined) return { sql: `${flat}${skip}`, format };
  const [inner, outer] = findLimit(sql) === undefined ? ['', skip] : [`\n${skip}`, '']; // a comment may end the query
  const stored = `${applyEdits(sql, edits)}${inner}`;
  return { sql: writeAround(endpoint, answerFormat, { stored, checks, skip: outer }), format };
}

/** Leaves out rows that the page before has sent. */
function writeSkip(count: string): string {
  return ` OFFSET CAST(${count}, 'UInt64')`;
}

/** The same for an endpoint that writes its query late. @param write of the endpoint */
export function createLateStatement(
  endpoint: Endpoint,
  write: NonNullable<Endpoint['writeSelect']>,
  answerFormat: Pick<Format, 'engineFormat' | 'lines'> = JSON_FORMAT,
): Pick<Statement, 'format'> & { readonly write: (values: Values) => string } {
  const { engineFormat } = answerFormat;
  const { isJson, joinsText, format } = findRowForm(endpoint, engineFormat);
  const writeName = createNameWriter(endpoint);
  return {
    format,
    write(values) {
      const select = write((name) => writeName(name, values));
      const flat = isJson
        ? writeFlat(endpoint, { ...select, before: 'SELECT', countsItems: false }, joinsText)
        : undefined;
      const skip = values[PAGE_SKIP] ? writeSkip(writeName(PAGE_SKIP, values)) : '';
      if (flat !== undefined) return `${flat}${skip}`;
      const items = select.items.map(({ sql }) => sql).join(', ');
      const limit = select.limit === undefined ? '' : `\nLIMIT ${select.limit}${skip}`;
      const stored = `SELECT ${items} ${select.after}${limit}`;
      return writeAround(endpoint, answerFormat, { stored });
    },
  };
}

/** How the engine writes the rows of an endpoint. */
function findRowForm({ columns }: Endpoint, engineFormat: QueryOptions['format']) {
  const isJson = engineFormat === 'JSONEachRow' || engineFormat === 'JSON';
  const joinsText = isJson && columns.some(({ type }) => type === 'json');
  return { isJson, joinsText, format: joinsText ? TEXT_FORMATS[engineFormat] : engineFormat };
}

/** For rows that the engine joins to texts itself. */
const TEXT_FORMATS = { JSONEachRow: 'TSVRaw', JSON: 'JSONCompact' } as const;

/** Edits of those optional conditions of an endpoint that the values decide. */
function decideConditions(endpoint: Endpoint, values: Values): Edit[] {
  return findOptionalConditions(endpoint.sql).flatMap(({ name, test, ifEmpty, ifGiven }) => {
    const isText = isBoundAsText(endpoint, name);
    if (!Object.hasOwn(values, name) || isText !== (test === 'text')) return [];
    return values[name] === '' ? ifEmpty : ifGiven;
  });
}

/** As a subquery the stored query can only be one SELECT; ClickHouse keeps the order of its rows. */
function writeAround(
  endpoint: Endpoint,
  { engineFormat, lines }: Pick<Format, 'engineFormat' | 'lines'>,
  { stored, checks = '', skip = '' }: StoredQuery,
): string {
  const { columns, maxRows } = endpoint;
  const from = `FROM (\n${stored}\n)${checks} LIMIT ${maxRows}${skip}`;
  if (lines !== undefined) return lines.write(endpoint, `SELECT * ${from}`);
  const write = writerOf(engineFormat);
  const named = findRowForm(endpoint, engineFormat).joinsText
    ? rowAsText(columns)
    : columns.map(({ name, type }) => write(identifier(name), type)).join(', ');
  const selected = named === '' ? writeTimes(endpoint, engineFormat) : named; // no columns are declared for a caller's SELECT
  return `SELECT ${selected} ${from}`;
}

/** All columns, with times as ISO 8601 unless the format has a type for them. */
function writeTimes({ timeColumns = [] }: Endpoint, format: QueryOptions['format']): string {
  if (timeColumns.length === 0 || format === 'ArrowStream' || format === 'Parquet') return '*';
  const times = timeColumns.map((name) => `replaceOne(toString(\`${name}\`), ' ', 'T') AS \`${name}\``);
  return `* REPLACE (${times.join(', ')})`;
}

/** A stored query with what stands around it. */
interface StoredQuery {
  readonly stored: string;
  readonly checks?: string;
  readonly skip?: string;
}

/** The query by itself, if it plainly returns the declared columns; `undefined` if it needs another SELECT around it. */
function writeFlat(
  { columns, maxRows }: Endpoint,
  select: FinalSelect | undefined,
  joinsText: boolean,
): string | undefined {
  if (select?.items.map(({ name }) => name).join() !== columns.map(({ name }) => name).join())
    return undefined;
  if (joinsText && select.countsItems) return undefined;
  const selected = joinsText
    ? rowAsText(columns, select.items)
    : select.items.map(({ sql }) => sql).join(', ');
  const limit = Math.min(select.limit ?? maxRows, maxRows);
  return `${select.before} ${selected} ${select.after}\nLIMIT ${limit}`;
}

/** Whether an empty value reaches the SQL as the empty text; NULL otherwise. */
function isBoundAsText({ parameters, pages }: Endpoint, name: string): boolean {
  const isOfCursor = pages?.by.some((column) => CURSOR_PREFIX + column.name === name) === true;
  return !isOfCursor && (parameters.find((one) => one.name === name)?.sqlType ?? 'String') === 'String';
}

/** The SQL of an endpoint with each parameter as a value of its type: the engine gets its canonical text. */
export function writeTypes(endpoint: Endpoint): string {
  return applyEdits(endpoint.sql, findTypeEdits(endpoint));
}

function findTypeEdits(endpoint: Endpoint): Edit[] {
  const typed = findTypes(endpoint);
  return findParameters(endpoint.sql).map(({ name, start, end }) => ({
    start,
    end,
    text: typed.get(name) ?? `@${name}`,
  }));
}

/** The parameters, and the columns of the cursor, as values of their types. */
function findTypes({ parameters, pages }: Endpoint): Map<string, string> {
  const typed = new Map(parameters.map((parameter) => [parameter.name, writeTyped(parameter)]));
  for (const column of pages?.by ?? []) typed.set(CURSOR_PREFIX + column.name, writeCursorColumn(column));
  return typed;
}

/** Writes single parameters as `writeTypes` does, each with its value. */
function createNameWriter(endpoint: Endpoint): (name: string, values: Values) => string {
  const typed = findTypes(endpoint);
  const cursors = new Map(endpoint.pages?.by.map((one) => [CURSOR_PREFIX + one.name, one]));
  return (name, values) => {
    const cursor = cursors.get(name);
    if (cursor !== undefined) return writeCursorValue(cursor, String(getValue(values, name)));
    return createRewriter(typed.get(name) ?? `@${name}`)((used) => writeValue(getValue(values, used)));
  };
}

function writeTyped({ name, sqlType, required, fallback }: Parameter): string {
  if (sqlType === 'String') return `@${name}`;
  if (required || fallback !== '') return `CAST(@${name}, '${sqlType}')`;
  return `CAST(nullIf(@${name}, ''), 'Nullable(${sqlType})')`;
}

type WriteColumn = (column: string, type: ResultType) => string;

/** How a column is written in a format. */
function writerOf(format: QueryOptions['format']): WriteColumn {
  const types = Object.hasOwn(FILE_COLUMNS, format) ? FILE_COLUMNS[format as FileFormat] : undefined; // its keys are the formats
  if (types === undefined) return (column) => column;
  return (column, type) => {
    const expression = types[type]?.(column);
    return expression === undefined ? column : `${expression} AS ${column}`;
  };
}

type ColumnTypes = Partial<Record<ResultType, (column: string) => string>>;

const jsonText = (column: string) => `ifNull(nullIf(${column}, ''), 'null')`;

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

/**
 * A row as JSON, concatenated by the engine, for results with a `json` column: JSONEachRow would quote the column's text, which
 * has to stand in the row as it is. Ingest keeps that text to one line of valid JSON.
 */
function rowAsText(columns: readonly ResultColumn[], items: readonly SelectItem[] = []): string {
  const members = columns.map(({ name, type }, i) => {
    const label = writeValue(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    const column = items[i]?.sql ?? identifier(name);
    return `${label}, ${type === 'json' ? jsonText(column) : `ifNull(toJSONString(${column}), 'null')`}`;
  });
  return `concat(${members.join(', ')}, '}')`;
}

/**
 * Compiles every pattern while the query is analysed; see `arePlainPatterns`. Otherwise a pattern that RE2 rejects would fail only if there are rows
 * to match, and return an empty answer if there are none.
 */
function patternChecks(endpoint: Endpoint): string {
  const patterns = endpoint.parameters.filter(({ isPattern }) => isPattern);
  const checks = patterns.map(({ name }) => `NOT ignore(replaceRegexpOne('', @${name}, ''))`);
  return checks.length === 0 ? '' : ` WHERE ${checks.join(' AND ')}`;
}

function identifier(name: string): string {
  return `\`${name}\``; // proven by the definition's schema to be letters, digits and underscores
}
