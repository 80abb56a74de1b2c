import { isManaged, type Source, type SourceColumn } from '../definitions/source.ts';
import { InputError } from '../errors.ts';
import { identifier, sql } from '../sql/sql.ts';
import type { Engine } from './engine.ts';
import { createView, dropView, isOwnView, restoreView, viewComment } from './external.ts';
import {
  type Addition,
  addColumn,
  addIndex,
  createTable,
  dropTable,
  storedTable,
  tableColumns,
  tableIndexes,
} from './table.ts';

/** A table of the store. */
export interface StoredTable {
  readonly engine: string;
  readonly comment: string;
  readonly columns: ReadonlyMap<string, { type: string; expression: string }>;
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
    ({ name }) => !stored.columns.has(name),
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
  const remove = old === undefined ? dropView(source, cluster) : restoreView(old.definition, cluster);
  return [{ add: [createView(source, external, cluster)], remove: [remove] }];
}

/** Finds tables and views that have the name of a source's table but do not belong to it. */
function findTakenName({ external, file, table }: Source, old: StoredTable | undefined): string[] {
  if (old === undefined) return [];
  const isView = old.engine === 'View';
  if (external === undefined && !isView) return [];
  if (external === undefined)
    return [`${file}: the database has a view called ${table}; take another name for the table`];
  if (isView && isOwnView(old.comment)) return [];
  return [
    `${file}: the database has a ${isView ? 'view' : 'table'} called ${table} already, which Tailrace does not ` +
      'change; set "table" to a free name, by which stored queries then read the source',
  ];
}

function compare(source: Source, table: StoredTable, expressions: ReadonlyMap<string, string>): string[] {
  return tableColumns(source).flatMap((column) => {
    const old = table.columns.get(column.name);
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
  const rows = await engine.inspect(
    sql`SELECT arrayJoin([${list}]) AS expression,
       substring(formatQuerySingleLine(concat('SELECT ', expression)), 8) AS formatted`,
  );
  return new Map(rows.map(({ expression, formatted }) => [String(expression), String(formatted)]));
}

/** Reads the tables of the store, by name. */
export async function readTables(engine: Engine): Promise<Map<string, StoredTable>> {
  const tables = await engine.inspect(
    'SELECT name, engine, comment, create_table_query FROM system.tables WHERE database = currentDatabase()',
  );
  const columns = await engine.inspect(
    'SELECT table, name, type, default_expression AS expression FROM system.columns WHERE database = currentDatabase()',
  );
  const columnsOf = Map.groupBy(columns, ({ table }) => table);
  return new Map(
    tables.map((table) => {
      const own = columnsOf.get(table['name']) ?? [];
      const stored = {
        engine: String(table['engine']),
        comment: String(table['comment']),
        definition: `${table['create_table_query']} `,
        columns: new Map(
          own.map(({ name, type, expression }) => [
            String(name),
            { type: String(type), expression: String(expression) },
          ]),
        ),
      };
      return [String(table['name']), stored];
    }),
  );
}
