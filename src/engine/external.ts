import { hash } from 'node:crypto';
import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { Expression, ExternalTable, Source } from '../definitions/source.ts';
import { writeValue } from '../sql/quote.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { identifier, type Sql, sql, trusted } from '../sql/sql.ts';
import { onCluster, tableColumns } from './table.ts';

/** Prefix of the comment of each view created by Tailrace: no other view or table is ever replaced. */
const MADE_BY = 'made by tailrace';

// Columns that a source file leaves out. An event has the same id each time that it is read.
const DEFAULTS: Readonly<Record<string, string>> = {
  event_message: "''",
  metadata: "'{}'",
  attributes: "''",
};
const DEFAULT_ID = 'hex(sipHash128(timestamp, project, event_message, metadata))';

/** Returns the quoted name of an existing table. */
export function externalName({ database, table }: ExternalTable): string {
  return database === undefined ? `\`${table}\`` : `\`${database}\`.\`${table}\``;
}

/**
 * A SELECT over a source's existing table, with the columns and types of a managed table. It converts by CAST, through
 * which the engine still uses the table's key for conditions; with `toDateTime64` and others it would read everything.
 */
export function selectExternal(source: Source, external: ExternalTable): string {
  const given = [...external.common, ...external.typed];
  const types = new Map(tableColumns(source).map(({ name, type }) => [name, type]));
  // Under other names first: an expression names columns of the existing table, not those of the result.
  const inner = given.map((expression) => `${convert(expression, types)} AS \`tailrace_${expression.name}\``);
  const outer = [...types.keys()].map((name) => {
    const isGiven = given.some((expression) => expression.name === name);
    if (isGiven) return `\`tailrace_${name}\` AS \`${name}\``;
    return name === 'id' ? `${DEFAULT_ID} AS id` : `${DEFAULTS[name]} AS \`${name}\``;
  });
  return `SELECT ${outer.join(', ')}
FROM (SELECT ${inner.join(',\n  ')}
FROM ${externalName(external)})`;
}

/** The newline ends a trailing comment of the expression. */
function convert({ name, sql: text }: Expression, types: ReadonlyMap<string, string>): string {
  const type = types.get(name) ?? '';
  const guarded = guardSearches(text, () => ''); // an expression has no parameters
  // An unsigned integer may be larger than what the column holds.
  if (type === 'Nullable(Int64)') return `accurateCastOrNull((${guarded}\n), 'Int64')`;
  return `CAST((${guarded}\n), ${writeValue(type)})`;
}

/** Returns the statement that creates or replaces a source's view. */
export function createView(source: Source, external: ExternalTable, cluster: string): Sql {
  return sql`CREATE OR REPLACE VIEW ${identifier(source.table)}${onCluster(cluster)} AS
${trusted(selectExternal(source, external))}
COMMENT ${viewComment(source, external)}`;
}

/** Identifies Tailrace's views, and the definition that each was created from. */
export function viewComment(source: Source, external: ExternalTable): string {
  return `${MADE_BY}: ${hash('sha256', selectExternal(source, external)).slice(0, 16)}`;
}

export function isOwnView(comment: string): boolean {
  return comment.startsWith(`${MADE_BY}: `);
}

/** Returns the statement that restores a view from its definition in the engine. */
export function restoreView(definition: string, cluster: string): Sql {
  return trusted(definition.replace(/^CREATE VIEW (\S+)/, `CREATE OR REPLACE VIEW $1${onCluster(cluster)}`));
}

export function dropView({ table }: Source, cluster: string): Sql {
  return sql`DROP VIEW IF EXISTS ${identifier(table)}${onCluster(cluster)}`;
}

/** Returns the source with constants of the right types instead of its table, for an engine without that table. */
export function withoutTable(source: Source): Source {
  if (source.external === undefined) return source;
  const columns = tableColumns(source).map(({ name, type }) => {
    return { name, sql: `defaultValueOfTypeName(${writeValue(type)})`, line: 1 };
  });
  const common = columns.slice(0, COMMON_COLUMNS.length);
  const typed = columns.slice(COMMON_COLUMNS.length);
  return { ...source, external: { database: 'system', table: 'one', line: 1, common, typed } };
}
