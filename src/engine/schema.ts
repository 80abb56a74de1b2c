import { hash } from 'node:crypto';
import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import {
  type Expression,
  type ExternalTable,
  isManaged,
  type Source,
  type SourceColumn,
} from '../definitions/source.ts';
import { InputError } from '../errors.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { identifier, type Sql, sql, trusted, writeValue } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import {
  type Addition,
  addColumn,
  addIndex,
  createTable,
  dropTable,
  onCluster,
  storedTable,
  tableColumns,
  tableIndexes,
} from './table.ts';

/** A table of the store. */
export interface StoredTable {
  readonly engine: string;
  readonly comment: string;
  readonly columns: Readonly<Record<string, { type: string; expression: string }>>;
  readonly definition: string;
}

/**
 * Brings the store's tables up to date with the sources: creates missing tables, columns and indexes, and the views of
 * sources that read existing tables. Idempotent. Columns that no source declares any longer stay, with their data.
 *
 * @param accept called when the tables and columns exist. If it throws they are removed, so that rejected definitions
 *   do not leave a column with a type that the next ones correct. In a shared store only an `InputError` is a
 *   rejection: other processes may be able to use what this one could not
 * @throws InputError for each column with another type or path than the stored one; the error of `accept`. Then nothing
 *   has changed
 */
export async function applySchema(
  engine: Engine,
  all: readonly Source[],
  accept: () => Promise<void> = async () => {},
): Promise<void> {
  const { cluster } = engine;
  const sources = all.filter(isManaged);
  const stored = await readTables(engine);
  const faults = await findSchemaFaults(engine, all, stored);
  if (faults.length > 0) throw new InputError(faults);
  const additions = [
    ...sources.flatMap((source) => findAdditions(source, stored, cluster)),
    ...all.flatMap((source) => findViews(source, stored.get(source.table), cluster)),
  ];
  const done: Addition[] = [];
  try {
    for (const addition of additions) {
      done.unshift(addition); // first: a partly created one has to be removed, too
      for (const statement of addition.add) await engine.command(statement);
    }
    await accept();
  } catch (error) {
    // Processes that share the store may use these additions by now, unless the definitions are at fault.
    if (!engine.seesEveryWrite && !(error instanceof InputError)) throw error;
    // A failure to undo, for instance because the engine has ended, must not hide the error.
    for (const addition of done) await undo(engine, addition).catch(() => {});
    throw error;
  }
}

/**
 * Finds the conflicts between the sources and the tables of a store, a line each.
 *
 * @param engine formats expressions as the store's engine does; its own tables do not matter
 */
export async function findSchemaFaults(
  engine: Engine,
  all: readonly Source[],
  stored: ReadonlyMap<string, StoredTable>,
): Promise<string[]> {
  const sources = all.filter(isManaged);
  const expressions = await formatExpressions(engine, sources);
  const faults = sources.flatMap((source) => {
    const table = stored.get(storedTable(source, engine.cluster));
    return table === undefined ? [] : compare(source, table, expressions);
  });
  return [...faults, ...all.flatMap((source) => findTakenName(source, stored.get(source.table)))];
}

/**
 * Undoes an addition, but keeps a table that has events by now: a process that shares the store may have it in its own,
 * valid definitions.
 */
async function undo(engine: Engine, { remove, table }: Addition): Promise<void> {
  if (engine.cluster !== '' && table !== undefined) {
    const rows = await engine.inspect(sql`SELECT 1 FROM ${identifier(table)} LIMIT 1`);
    if (rows.length > 0) return;
  }
  for (const statement of remove) await engine.command(statement).catch(() => {});
}

function findAdditions(source: Source, all: ReadonlyMap<string, StoredTable>, cluster: string): Addition[] {
  const stored = all.get(storedTable(source, cluster));
  if (stored === undefined)
    return [{ add: createTable(source, cluster), remove: dropTable(source, cluster), table: source.table }];
  // On a cluster only the table over all servers may be missing; it holds no rows itself.
  const over = all.has(source.table) ? [] : [{ add: createTable(source, cluster), remove: [] }];
  // A computed column comes after the columns that it reads, which may be new, too.
  const ordered = source.columns.toSorted((a, b) => dependencyRank(a) - dependencyRank(b));
  const columns = tableColumns({ ...source, columns: ordered }).filter(
    ({ name }) => !Object.hasOwn(stored.columns, name),
  );
  const indexes = tableIndexes(source).filter(
    ({ kind, name }) => !stored.definition.includes(`${kind} ${name} `),
  );
  return [
    ...over,
    ...columns.map((column) => addColumn(source, column, cluster)),
    ...indexes.map((index) => addIndex(source, index, cluster)),
  ];
}

function dependencyRank({ otherwise, contains }: SourceColumn): number {
  if (contains !== undefined) return 2;
  return otherwise === undefined ? 0 : 1;
}

/** Returns the view of a source that reads an existing table, if it is missing or outdated. */
function findViews(source: Source, old: StoredTable | undefined, cluster: string): Addition[] {
  const { external } = source;
  if (external === undefined || old?.comment === viewComment(source, external)) return [];
  const remove =
    old === undefined
      ? sql`DROP VIEW IF EXISTS ${identifier(source.table)}${onCluster(cluster)}`
      : trusted(
          old.definition.replace(/^CREATE VIEW (\S+)/, `CREATE OR REPLACE VIEW $1${onCluster(cluster)}`),
        );
  return [{ add: [createView(source, external, cluster)], remove: [remove] }];
}

/** Finds tables and views that have the name of a source's table but do not belong to it. */
function findTakenName({ external, file, table }: Source, old: StoredTable | undefined): string[] {
  if (old === undefined) return [];
  const isView = old.engine === 'View';
  if (external === undefined && !isView) return [];
  if (external === undefined)
    return [`${file}: the database has a view called ${table}; take another name for the table`];
  if (isView && old.comment.startsWith(MADE_BY)) return [];
  return [
    `${file}: the database has a ${isView ? 'view' : 'table'} called ${table} already, which Tailrace does not ` +
      'change; set "table" to a free name, by which stored queries then read the source',
  ];
}

function compare(source: Source, table: StoredTable, expressions: ReadonlyMap<string, string>): string[] {
  return tableColumns(source).flatMap((column) => {
    const old = Object.hasOwn(table.columns, column.name) ? table.columns[column.name] : undefined;
    if (old === undefined) return [];
    const isSamePath = old.expression === (expressions.get(column.expression) ?? '');
    if (old.type === column.type && isSamePath) return [];
    const fault =
      old.type !== column.type
        ? `as ${old.type} and cannot become ${column.type}`
        : `${column.type === 'Bool' ? 'with another rule' : 'from another path of the event'}: ${old.expression}`;
    return [
      `${source.file}: column "${column.name}" of ${source.name} is stored ${fault}; give the new column another name`,
    ];
  });
}

/** Returns each expression as the engine formats it, which is how it is stored. */
async function formatExpressions(engine: Engine, sources: readonly Source[]): Promise<Map<string, string>> {
  const expressions = [...new Set(sources.flatMap(tableColumns).map(({ expression }) => expression))];
  const list = expressions.filter((expression) => expression !== '');
  if (list.length === 0) return new Map();
  const rows: { expression: string; formatted: string }[] = await engine.inspect(
    sql`SELECT arrayJoin([${list}]) AS expression,
       substring(formatQuerySingleLine(concat('SELECT ', expression)), 8) AS formatted`,
  );
  return new Map(rows.map(({ expression, formatted }) => [expression, formatted]));
}

/** Reads the tables of the store, by name. */
export async function readTables(engine: Engine): Promise<Map<string, StoredTable>> {
  const tables: (Omit<StoredTable, 'columns'> & { name: string })[] = await engine.inspect(
    `SELECT name, engine, comment, create_table_query || ' ' AS definition FROM system.tables
      WHERE database = currentDatabase()`,
  );
  const columns: { table: string; name: string; type: string; expression: string }[] = await engine.inspect(
    'SELECT table, name, type, default_expression AS expression FROM system.columns WHERE database = currentDatabase()',
  );
  const columnsOf = Map.groupBy(columns, ({ table }) => table);
  return new Map(
    tables.map(({ name, ...table }) => {
      const own = columnsOf.get(name) ?? [];
      const described = own.map((one) => [one.name, { type: one.type, expression: one.expression }] as const);
      return [name, { ...table, columns: Object.fromEntries(described) }];
    }),
  );
}

/** Prefix of the comment of each view created by Tailrace: no other view or table is ever replaced. */
const MADE_BY = 'made by tailrace: ';

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
function createView(source: Source, external: ExternalTable, cluster: string): Sql {
  return sql`CREATE OR REPLACE VIEW ${identifier(source.table)}${onCluster(cluster)} AS
${trusted(selectExternal(source, external))}
COMMENT ${viewComment(source, external)}`;
}

/** Identifies Tailrace's views, and the definition that each was created from. */
function viewComment(source: Source, external: ExternalTable): string {
  return `${MADE_BY}${hash('sha256', selectExternal(source, external)).slice(0, 16)}`;
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
