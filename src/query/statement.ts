import type { Endpoint, ResultColumn } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX } from '../definitions/pages.ts';
import type { Parameter } from '../definitions/parameter.ts';
import type { RowFormat } from '../engine/engine.ts';
import { createRewriter } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { dropUnusedViews } from '../sql/with-list.ts';
import { JSON_FORMAT } from './format.ts';
import { writeCursorColumn } from './position.ts';

export interface Statement {
  readonly sql: string;
  readonly format: RowFormat;
}

/**
 * The SQL that answers an endpoint, a line for each row: the declared columns of the stored query, or all of a caller's SELECT, cut at
 * max rows (spec 8). As a subquery the stored query can only be one SELECT; ClickHouse keeps the order of its rows. Views that it does
 * not read are left out, since the engine would parse them for each request; the check of a definition shows the engine all.
 */
export function createStatement(endpoint: Endpoint, { engineFormat } = JSON_FORMAT): Statement {
  const { columns, sqlOrigin } = endpoint;
  const joinsText = engineFormat === 'JSONEachRow' && columns.some(({ type }) => type === 'json');
  const named = joinsText ? rowAsText(columns) : columns.map(({ name }) => identifier(name)).join(', ');
  const selected = sqlOrigin === 'select' ? '*' : named;
  const sql = `SELECT ${selected} FROM (\n${dropUnusedViews(writeTypes(endpoint))}\n)${patternChecks(endpoint)} LIMIT ${endpoint.maxRows}`;
  return { sql, format: joinsText ? 'TSVRaw' : engineFormat };
}

/** The SQL of an endpoint with each parameter as a value of its type: the engine gets its canonical text. */
export function writeTypes({ sql, parameters, pages }: Endpoint): string {
  const typed = new Map(parameters.map((parameter) => [parameter.name, writeTyped(parameter)]));
  for (const column of pages?.by ?? []) typed.set(CURSOR_PREFIX + column.name, writeCursorColumn(column));
  return createRewriter(sql)((name) => typed.get(name) ?? `@${name}`);
}

function writeTyped({ name, sqlType, required, fallback }: Parameter): string {
  if (sqlType === 'String') return `@${name}`;
  if (required || fallback !== '') return `CAST(@${name}, '${sqlType}')`;
  return `CAST(nullIf(@${name}, ''), 'Nullable(${sqlType})')`;
}

/**
 * A row as JSON, concatenated by the engine, for results with a `json` column: JSONEachRow would quote the column's text, which
 * has to stand in the row as it is. Ingest keeps that text to one line of valid JSON.
 */
function rowAsText(columns: readonly ResultColumn[]): string {
  const members = columns.map(({ name, type }, i) => {
    const label = quote(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`);
    const column = identifier(name);
    if (type === 'json') return `${label}, if(empty(ifNull(${column}, '')), 'null', ${column})`;
    return `${label}, ifNull(toJSONString(${column}), 'null')`;
  });
  return `concat('{', ${members.join(', ')}, '}')`;
}

/**
 * Compiles every pattern while the query is analysed. Otherwise a pattern that RE2 refuses would fail only if there are rows
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
