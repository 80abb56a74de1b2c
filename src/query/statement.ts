import type { Endpoint, ResultColumn } from '../definitions/endpoint.ts';
import type { Parameter } from '../definitions/parameter.ts';
import type { RowFormat } from '../engine/engine.ts';
import { createRewriter } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { dropUnusedViews } from '../sql/with-list.ts';

export interface Statement {
  readonly sql: string;
  readonly format: RowFormat;
}

/**
 * The SQL that answers an endpoint: the stored query with its declared columns, in their order, cut at max rows (spec 8)
 * by the engine, one line of JSON a row.
 *
 * A caller's SELECT answers with all columns that it selects.
 * Views that the query defines and does not read are left out, which the engine would parse for each request; the check of a
 * definition shows it the whole query.
 *
 * The stored query stands as a subquery, so it can only be one SELECT; ClickHouse keeps the order of a subquery's rows.
 */
export function createStatement(endpoint: Endpoint): Statement {
  const raw = endpoint.columns.some((column) => column.type === 'json');
  const columns = raw
    ? rowAsText(endpoint.columns)
    : endpoint.columns.map((column) => identifier(column.name)).join(', ');
  const selected = endpoint.sqlOrigin === 'select' ? '*' : columns;
  const sql = `SELECT ${selected} FROM (\n${dropUnusedViews(writeTypes(endpoint))}\n)${patternChecks(endpoint)} LIMIT ${endpoint.maxRows}`;
  return { sql, format: raw ? 'TSVRaw' : 'JSONEachRow' };
}

/** The SQL of an endpoint with each parameter as a value of its type: the engine gets its canonical text. */
export function writeTypes({ sql, parameters }: Endpoint): string {
  const typed = new Map(parameters.map((parameter) => [parameter.name, writeTyped(parameter)]));
  return createRewriter(sql)((name) => typed.get(name) ?? `@${name}`);
}

function writeTyped({ name, sqlType, required, fallback }: Parameter): string {
  if (sqlType === 'String') return `@${name}`;
  if (required || fallback !== '') return `CAST(@${name}, '${sqlType}')`;
  return `CAST(nullIf(@${name}, ''), 'Nullable(${sqlType})')`;
}

/**
 * A row's JSON put together by the engine, for results with a `json` column: its text goes in as it is, where JSONEachRow
 * would quote it. Ingest keeps that text to one line of valid JSON.
 */
function rowAsText(columns: readonly ResultColumn[]): string {
  const members = columns.map(({ name, type }, i) => {
    const label = quote(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`);
    const column = identifier(name);
    const value =
      type === 'json'
        ? `if(empty(ifNull(${column}, '')), 'null', ${column})`
        : `ifNull(toJSONString(${column}), 'null')`;
    return `${label}, ${value}`;
  });
  return `concat('{', ${members.join(', ')}, '}')`;
}

/**
 * Compiles every pattern while the query is analysed. Without it a pattern that RE2 refuses would be found out only where
 * there are rows to match, and answer "no rows" where there are none.
 */
function patternChecks(endpoint: Endpoint): string {
  const patterns = endpoint.parameters.filter(({ isPattern }) => isPattern);
  if (patterns.length === 0) return '';
  return ` WHERE ${patterns.map(({ name }) => `NOT ignore(replaceRegexpOne('', @${name}, ''))`).join(' AND ')}`;
}

function identifier(name: string): string {
  return `\`${name}\``; // proven by the definition's schema to be letters, digits and underscores
}
