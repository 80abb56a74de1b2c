import { isManaged, type Source } from '../definitions/source.ts';
import { InputError } from '../errors.ts';
import { quote } from '../sql/quote.ts';
import type { Engine } from './engine.ts';
import { createView, dropView, isOwnView, restoreView, viewComment } from './external.ts';
import {
  addColumn,
  addIndex,
  createTable,
  dropColumn,
  dropIndex,
  dropTable,
  setTableTtl,
  storedTable,
  TABLE_TTL,
  type TableColumn,
  tableColumns,
  tableIndexes,
} from './table.ts';

/** A table as the store has it. */
export interface StoredTable {
  readonly engine: string;
  readonly comment: string;
  readonly columns: ReadonlyMap<string, { type: string; expression: string }>;
  readonly definition: string;
}

/**
 * Brings the store's tables up to date with the sources: creates missing tables, columns and indexes, and the views of sources
 * that read existing tables. Idempotent. Columns that no source names any more stay, with their data.
 *
 * @param accept called when the tables and columns are there; when it throws they are taken away again, so that a set
 * which is refused does not leave a column of a type that the next one corrects. In a store that others share only an `InputError` is a refusal: any other failure may be this process's alone
 * @throws InputError naming each column whose type or path differs from what is stored; whatever `accept` throws. Then
 * nothing has been changed
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
      for (const sql of addition.add) await engine.command(sql);
    }
    await accept();
  } catch (error) {
    // Processes that share the store may use these additions by now, unless the definitions are at fault.
    if (!engine.seesEveryWrite && !(error instanceof InputError)) throw error;
    // A failure to undo, for instance because the engine has ended, must not hide the error.
    for (const addition of done) await takeAway(engine, addition).catch(() => {});
    throw error;
  }
  for (const source of sources) {
    const name = storedTable(source, cluster);
    const table = stored.get(name);
    const isOther = table !== undefined && !table.definition.includes(`TTL ${TABLE_TTL} `);
    if (isOther) await engine.command(setTableTtl(`\`${name}\``, cluster));
  }
}

/**
 * The conflicts between the sources and the tables of a store, a line each.
 *
 * @param engine that writes expressions as that of the store does; its own tables do not matter
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

/** Statements that add a table, a column or an index, and the statements that undo it. */
interface Addition {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** A table that is new with it. */
  readonly table?: string;
}

/** Unless it has events by now: a process that shares the store may have the table in its own, valid definitions. */
async function takeAway(engine: Engine, { remove, table }: Addition): Promise<void> {
  if (engine.cluster !== '' && table !== undefined) {
    const rows = await engine.inspect(`SELECT 1 FROM \`${table}\` LIMIT 1`);
    if (rows.length > 0) return;
  }
  for (const sql of remove) await engine.command(sql).catch(() => {});
}

function findAdditions(source: Source, all: ReadonlyMap<string, StoredTable>, cluster: string): Addition[] {
  const stored = all.get(storedTable(source, cluster));
  if (stored === undefined)
    return [{ add: createTable(source, cluster), remove: dropTable(source, cluster), table: source.table }];
  // On a cluster the table over all servers may be missing by itself; it holds nothing.
  const over = all.has(source.table) ? [] : [{ add: createTable(source, cluster), remove: [] }];
  // A column with `otherwise` comes after the columns that it falls back to: they may be new, too.
  const ordered = source.columns.toSorted(
    (a, b) => Number(a.otherwise !== undefined) - Number(b.otherwise !== undefined),
  );
  const columns = tableColumns({ ...source, columns: ordered }).filter(
    (column) => !stored.columns.has(column.name),
  );
  const indexes = tableIndexes(source).filter((index) => !stored.definition.includes(`INDEX ${index.name} `));
  return [
    ...over,
    ...columns.map((column) => ({
      add: addColumn(source, column, cluster),
      remove: dropColumn(source, column, cluster),
    })),
    ...indexes.map((index) => ({
      add: addIndex(source, index, cluster),
      remove: dropIndex(source, index, cluster),
    })),
  ];
}

/** The view of a source that reads an existing table, if it is missing or outdated. */
function findViews(source: Source, old: StoredTable | undefined, cluster: string): Addition[] {
  const { external } = source;
  if (external === undefined || old?.comment === viewComment(source, external)) return [];
  const remove = old === undefined ? dropView(source, cluster) : restoreView(old.definition, cluster);
  return [{ add: [createView(source, external, cluster)], remove: [remove] }];
}

/** Tables and views that have the name of a source's table but do not belong to it. */
function findTakenName({ external, file, table }: Source, old: StoredTable | undefined): string[] {
  if (old === undefined) return [];
  const isView = old.engine === 'View';
  if (external === undefined)
    return isView
      ? [`${file}: the database has a view called ${table}; take another name for the table`]
      : [];
  if (isView && isOwnView(old.comment)) return [];
  return [
    `${file}: the database has a ${isView ? 'view' : 'table'} called ${table} already, which is left as it is; "table" must be a free name, under which stored queries then find the source`,
  ];
}

function compare(source: Source, table: StoredTable, expressions: ReadonlyMap<string, string>): string[] {
  return tableColumns(source).flatMap((column) => {
    const old = table.columns.get(column.name);
    const where = `${source.file}: column "${column.name}" of ${source.name}`;
    if (old === undefined) return [];
    if (old.type !== column.type) {
      return [
        `${where} is stored as ${old.type} and cannot become ${column.type}; give the new column another name`,
      ];
    }
    if (old.expression !== (expressions.get(column.expression) ?? '')) {
      return [
        `${where} is stored from another path of the event: ${old.expression}; give the new column another name`,
      ];
    }
    return [];
  });
}

/** Each expression as the engine formats it, which is how it is stored. */
async function formatExpressions(engine: Engine, sources: readonly Source[]): Promise<Map<string, string>> {
  const all = new Set(sources.flatMap(tableColumns).map((column: TableColumn) => column.expression));
  all.delete('');
  if (all.size === 0) return new Map();
  const list = [...all];
  const rows = await engine.inspect(
    `SELECT arrayMap(e -> substring(formatQuerySingleLine(concat('SELECT ', e)), 8), [${list.map(quote).join(', ')}]) AS texts`,
  );
  const texts = (rows[0]?.['texts'] ?? []) as string[];
  return new Map(list.map((expression, i) => [expression, texts[i] ?? '']));
}

/** The tables of the store, by name. */
export async function readTables(engine: Engine): Promise<Map<string, StoredTable>> {
  const tables = await engine.inspect(
    'SELECT name, engine, comment, create_table_query FROM system.tables WHERE database = currentDatabase()',
  );
  const columns = await engine.inspect(
    'SELECT table, name, type, default_expression FROM system.columns WHERE database = currentDatabase()',
  );
  return new Map(
    tables.map((table) => [
      String(table['name']),
      {
        engine: String(table['engine']),
        comment: String(table['comment']),
        definition: `${table['create_table_query']} `,
        columns: new Map(
          columns
            .filter((column) => column['table'] === table['name'])
            .map((c) => [
              String(c['name']),
              { type: String(c['type']), expression: String(c['default_expression']) },
            ]),
        ),
      },
    ]),
  );
}
