import { hash } from 'node:crypto';
import { COMMON_COLUMNS } from '../definitions/checks/source-columns.ts';
import type { Expression, ExternalTable, Source } from '../definitions/source.ts';
import { quote } from '../sql/quote.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { findTextSearches } from '../sql/text-search.ts';
import { onCluster, tableColumns } from './table.ts';

/** Prefix of the comment of each view created by Tailrace: no other view or table is ever replaced. */
const MADE_BY = 'made by tailrace';

// Defaults of columns that a file leaves out. An id is the same whenever the event is read, and so is never empty.
const ELSE: Readonly<Record<string, string>> = {
  event_message: "''",
  metadata: "'{}'",
  attributes: "''",
};
const ELSE_ID = 'hex(sipHash128(timestamp, project, event_message, metadata))';

/** An existing table by the name that a statement has for it. */
export function externalName({ database, table }: ExternalTable): string {
  return database === undefined ? `\`${table}\`` : `\`${database}\`.\`${table}\``;
}

/**
 * What a source reads out of its existing table: a SELECT with the columns that a table of its own would have, of the same
 * types. By CAST, through which the engine finds what a condition means for the key of the table below; `toDateTime64` and
 * others would make it read everything.
 */
export function selectExternal(source: Source, external: ExternalTable): string {
  const given = [...external.common, ...external.typed];
  const types = new Map(tableColumns(source).map(({ name, type }) => [name, type]));
  // Under names of their own first: an expression means the columns of the table, not those that are made of them.
  const made = given.map((expression) => `${convert(expression, types)} AS ${inner(expression.name)}`);
  const outer = [...types.keys()].map((name) => {
    const isGiven = given.some((expression) => expression.name === name);
    if (isGiven) return `${inner(name)} AS \`${name}\``;
    return name === 'id' ? `${ELSE_ID} AS id` : `${ELSE[name]} AS \`${name}\``;
  });
  return `SELECT ${outer.join(', ')}
FROM (SELECT ${made.join(',\n  ')}
FROM ${externalName(external)})`;
}

function inner(name: string): string {
  return `\`tailrace_${name}\``;
}

/** In parentheses and with a newline, so that a trailing comment cannot swallow what follows. */
function convert({ name, sql: text }: Expression, types: ReadonlyMap<string, string>): string {
  const type = types.get(name) ?? '';
  const sql = guardSearches(text, findTextSearches(text), () => ''); // an expression has no parameters
  // An unsigned integer may be larger than what the column holds.
  if (type === 'Nullable(Int64)') return `accurateCastOrNull((${sql}\n), 'Int64')`;
  return `CAST((${sql}\n), ${quote(type)})`;
}

/** The statement that makes a source's view, or another in its place. */
export function createView(source: Source, external: ExternalTable, cluster: string): string {
  return `CREATE OR REPLACE VIEW \`${source.table}\`${onCluster(cluster)} AS
${selectExternal(source, external)}
COMMENT ${quote(viewComment(source, external))}`;
}

/** Identifies Tailrace's views, and the definition that each was created from. */
export function viewComment(source: Source, external: ExternalTable): string {
  return `${MADE_BY}: ${hash('sha256', selectExternal(source, external)).slice(0, 16)}`;
}

export function isOwnView(comment: string): boolean {
  return comment.startsWith(`${MADE_BY}: `);
}

/** Restores a view from its definition in the engine. */
export function restoreView(definition: string, cluster: string): string {
  return definition.replace(/^CREATE VIEW (\S+)/, `CREATE OR REPLACE VIEW $1${onCluster(cluster)}`);
}

export function dropView({ table }: Source, cluster: string): string {
  return `DROP VIEW IF EXISTS \`${table}\`${onCluster(cluster)}`;
}

/** The source over no rows instead of its table, for an engine that does not have it. */
export function withoutTable(source: Source): Source {
  if (source.external === undefined) return source;
  const empty = tableColumns(source).map(({ name, type }) => ({
    name,
    sql: `defaultValueOfTypeName(${quote(type)})`,
    line: 1,
  }));
  const isCommon = ({ name }: Expression) => COMMON_COLUMNS.some((common) => common === name);
  const common = empty.filter(isCommon);
  const typed = empty.filter((expression) => !isCommon(expression));
  return { ...source, external: { database: 'system', table: 'one', line: 1, common, typed } };
}
