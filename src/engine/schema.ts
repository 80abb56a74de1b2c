import type { Source } from '../definitions/source.ts';
import { InputError } from '../errors.ts';
import { quote } from '../sql/quote.ts';
import { DATABASE } from './embedded-config.ts';
import type { Engine } from './engine.ts';
import { addColumn, createTable, retention, setRetention, type TableColumn, tableColumns } from './table.ts';

interface StoredTable {
  readonly columns: ReadonlyMap<string, { type: string; expression: string }>;
  readonly definition: string;
}

/**
 * Brings the store's tables to what the sources say: makes missing tables, adds missing columns. Running it again changes
 * nothing. Columns that no source names any more stay, with their data.
 *
 * @throws InputError naming each column whose type or path differs from what is stored; then nothing has been changed
 */
export async function applySchema(engine: Engine, sources: readonly Source[]): Promise<void> {
  const stored = await readTables(engine);
  const expressions = await formatExpressions(engine, sources);
  const faults = sources.flatMap((source) => {
    const table = stored.get(source.table);
    return table === undefined ? [] : compare(source, table, expressions);
  });
  if (faults.length > 0) throw new InputError(faults);
  for (const source of sources) await applySource(engine, source, stored.get(source.table));
}

async function applySource(engine: Engine, source: Source, stored: StoredTable | undefined): Promise<void> {
  if (stored === undefined) {
    await engine.command(createTable(source));
    return;
  }
  for (const column of tableColumns(source)) {
    if (!stored.columns.has(column.name)) await engine.command(addColumn(source, column));
  }
}

/**
 * Sets the retention of tables that have another. It can make data leave, so it waits until the whole set of definitions
 * has been accepted, unlike `applySchema`, which only adds.
 */
export async function applyRetention(engine: Engine, sources: readonly Source[]): Promise<void> {
  const stored = await readTables(engine);
  for (const source of sources) {
    const definition = stored.get(source.table)?.definition;
    if (definition?.includes(`TTL ${retention(source)} `) === false)
      await engine.command(setRetention(source));
  }
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

/** Each expression as the engine itself writes it, which is how it is stored. */
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

async function readTables(engine: Engine): Promise<Map<string, StoredTable>> {
  const database = quote(DATABASE);
  const tables = await engine.inspect(
    `SELECT name, create_table_query FROM system.tables WHERE database = ${database}`,
  );
  const columns = await engine.inspect(
    `SELECT table, name, type, default_expression FROM system.columns WHERE database = ${database}`,
  );
  return new Map(
    tables.map((table) => [
      String(table['name']),
      {
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
