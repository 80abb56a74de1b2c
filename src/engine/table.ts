import { hash } from 'node:crypto';
import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { ColumnType, Rollup, Source, SourceColumn } from '../definitions/source.ts';
import { identifier, type Sql, sql, trusted, writeValue } from '../sql/sql.ts';

/** A column of a table, in the engine's terms. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** Default for rows stored before the column was added; empty for the common columns. */
  readonly expression: string;
  /** Default: the part's codec, which is stronger once the part is `RECOMPRESSED_AFTER_DAYS` old. */
  readonly codec?: string;
  /** Default: the table's. */
  readonly settings?: string;
}

// A granule of metadata is larger than a block of the default size: larger blocks are smaller on the disk, and a reader
// of one granule reads no more. The minimum is the default, since it also counts for the lengths of the texts, which
// the engine keeps in blocks of their own: with a mebibyte, a reader of one text would decompress the lengths of
// 131,072.
const METADATA_BLOCKS = 'min_compress_block_size = 65536, max_compress_block_size = 2097152';

const COMMON: Record<(typeof COMMON_COLUMNS)[number], Omit<TableColumn, 'name' | 'expression'>> = {
  id: { type: 'String', codec: 'ZSTD(1)' },
  timestamp: { type: "DateTime64(6, 'UTC')", codec: 'Delta(8), ZSTD(1)' },
  project: { type: 'LowCardinality(String)', codec: 'ZSTD(1)' },
  event_message: { type: 'String' },
  // JSON text as received: the JSON column type drops nulls, reorders keys and turns dotted keys into objects.
  metadata: { type: 'String', settings: METADATA_BLOCKS },
  // The event's other top-level members, as JSON text of one object; empty if there are none.
  attributes: { type: 'String' },
};

const NUMBERS = "'Int64', 'UInt64', 'Double'";
const extractString = (at: string) => `JSONExtractString(${at})`;
const extractFloat = (at: string) => `JSONExtractFloat(${at})`;

// `extract` reads the JSON value at a path; values of other kinds than `kinds` are NULL, as in src/ingest/read-event.ts.
const TYPES: Record<ColumnType, { type: string; extract: (at: string) => string; kinds: string }> = {
  string: { type: 'Nullable(String)', extract: extractString, kinds: "'String'" },
  keyword: { type: 'LowCardinality(Nullable(String))', extract: extractString, kinds: "'String'" },
  integer: { type: 'Nullable(Int64)', extract: safeInteger, kinds: NUMBERS },
  number: { type: 'Nullable(Float64)', extract: extractFloat, kinds: NUMBERS },
  boolean: { type: 'Nullable(Bool)', extract: (at) => `JSONExtractBool(${at})`, kinds: "'Bool'" },
};

/** Writes an integer that is exact as a double, as in `Number.isSafeInteger`; otherwise NULL. */
function safeInteger(at: string): string {
  const value = extractFloat(at);
  return `if(abs(${value}) <= ${Number.MAX_SAFE_INTEGER} AND ${value} = trunc(${value}), toInt64(${value}), NULL)`;
}

/** The names of `tableColumns`, in its order. */
export function columnNames(source: Source): string[] {
  return [...COMMON_COLUMNS, ...source.columns.map(({ name }) => name)];
}

/** The columns of a source's table: those of every event, then its typed ones. */
export function tableColumns(source: Source): TableColumn[] {
  const common = COMMON_COLUMNS.map((name) => ({ name, expression: '', ...COMMON[name] }));
  return [...common, ...source.columns.map(typedColumn)];
}

/**
 * A typed column, with its value as an expression over the stored text. The engine evaluates it for rows stored before
 * the column was added; later rows bring the value. Its JSON parser rejects a text with a number beyond 64 bits or a
 * lone surrogate anywhere: the value is then NULL.
 */
function typedColumn({ name, type, path, otherPaths, contains, otherwise }: SourceColumn): TableColumn {
  if (contains !== undefined) {
    const text = contains.text === undefined ? 'project' : writeValue(contains.text);
    return { name, type: 'Bool', expression: `position(ifNull(\`${contains.column}\`, ''), ${text}) > 0` };
  }
  const { type: sqlType } = TYPES[type];
  const values = [path, ...otherPaths].map((one) => valueAt(one, type));
  const value = otherPaths.length === 0 ? values.join() : `coalesce(${values.join(', ')})`;
  if (otherwise === undefined) return { name, type: sqlType, expression: value };
  const others = otherwise.map((other) => (other === 'project' ? other : `ifNull(\`${other}\`, '')`));
  return { name, type: 'String', expression: `ifNull(${value}, concat(${["''", ...others].join(', ')}))` };
}

/** Writes the value at a path as an expression; NULL if it is missing or of another type. */
function valueAt(path: readonly string[], type: ColumnType): string {
  const { type: sqlType, extract, kinds } = TYPES[type];
  const [first = '', ...rest] = path;
  const [column, keys] = first === 'metadata' ? ['metadata', rest] : ['attributes', path];
  const at = [column, ...keys.map(writeValue)].join(', ');
  return `if(JSONType(${at}) IN (${kinds}), CAST(${extract(at)}, ${writeValue(sqlType)}), NULL)`;
}

// Deduplication tokens kept by a table: enough for the time between a crash and the retries of interrupted inserts.
const TOKENS_MAX = 10_000;

// Older parts are rarely read: compressing them harder saves a sixth of the disk. There is no deletion: it would follow
// the engine's clock, and a clock that is wrong for a moment would cost every event (src/maintenance/retention.ts).
const RECOMPRESSED_AFTER_DAYS = 1;
const TTL = `timestamp + toIntervalDay(${RECOMPRESSED_AFTER_DAYS}) RECOMPRESS CODEC(ZSTD(9))`;

/**
 * Returns the statements that create a source's table if it does not exist.
 *
 * On a cluster there are two tables: one on every server, with its share of the projects, each share on all replicas of
 * its shard, and one with the source's own name over all of these, through which everything is stored and read.
 *
 * @param cluster name of the cluster in the servers' configuration; empty: a single server, or the embedded engine
 */
export function createTable(source: Source, cluster: string): Sql[] {
  const stored = createStoredTable(source, cluster);
  if (cluster === '') return [stored];
  const local = identifier(storedTable(source, cluster));
  const over = sql`CREATE TABLE IF NOT EXISTS ${identifier(source.table)}${onCluster(cluster)} AS ${local}
ENGINE = Distributed(${identifier(cluster)}, currentDatabase(), ${local}, cityHash64(project))`;
  return [stored, over];
}

/** Returns the table that holds the rows: the source's own, or, on a cluster, that of each server. */
export function storedTable({ table }: Source, cluster: string): string {
  return cluster === '' ? table : `${table}_local`;
}

/**
 * An insert that was acknowledged is on the disk, not only with the operating system (`fsync_…`).
 * One part of a table a day, sorted by project and time, so that a day can be dropped as a whole.
 * Granules of 1,024 rows instead of 8,192: reading the newest 100 of a project reads an eighth of the rows.
 */
function createStoredTable(source: Source, cluster: string): Sql {
  const columns = tableColumns(source).map(columnDefinition);
  const indexes = tableIndexes(source).map(({ kind, definition }) => `${kind} ${definition}`);
  const [engine, window] =
    cluster === ''
      ? ([sql`MergeTree`, sql`non_replicated_deduplication_window`] as const)
      : ([sql`ReplicatedMergeTree`, sql`replicated_deduplication_window`] as const);
  return sql`CREATE TABLE IF NOT EXISTS ${identifier(storedTable(source, cluster))}${onCluster(cluster)} (
  ${trusted([...columns, ...indexes].join(',\n  '))}
) ENGINE = ${engine}
PARTITION BY toDate(timestamp)
ORDER BY (project, timestamp, id)
TTL ${trusted(TTL)}
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, default_compression_codec = 'ZSTD(1)',
  ${window} = ${TOKENS_MAX}, fsync_after_insert = 1, fsync_part_directory = 1`;
}

/** Returns the statements that drop an empty table. A cluster has no `IF EMPTY`: there the caller has to check first. */
export function dropTable(source: Source, cluster: string): Sql[] {
  const condition = cluster === '' ? sql`IF EXISTS IF EMPTY` : sql`IF EXISTS`;
  return tableNames(source, cluster)
    .map((name) => sql`DROP TABLE ${condition} ${identifier(name)}${onCluster(cluster)}`)
    .toReversed();
}

/** Statements that add something, and those that undo it. */
export interface Addition {
  readonly add: readonly Sql[];
  readonly remove: readonly Sql[];
  /** A new table. */
  readonly table?: string;
}

export function addColumn(source: Source, column: TableColumn, cluster: string): Addition {
  const alter = tableNames(source, cluster).map(
    (name) => sql`ALTER TABLE ${identifier(name)}${onCluster(cluster)}`,
  );
  return {
    add: alter.map((table) => sql`${table} ADD COLUMN IF NOT EXISTS ${trusted(columnDefinition(column))}`),
    remove: alter.toReversed().map((table) => sql`${table} DROP COLUMN IF EXISTS ${identifier(column.name)}`),
  };
}

export function addIndex(source: Source, index: TableIndex, cluster: string): Addition {
  const { kind, definition } = index;
  return {
    add: [alterTable(source, cluster, trusted(`ADD ${kind} IF NOT EXISTS ${definition}`))],
    remove: [dropIndex(source, index, cluster)],
  };
}

/** Returns the statement that drops an index or a projection. Parts are rewritten without it in the background. */
export function dropIndex(
  source: Source,
  { kind, name }: Pick<TableIndex, 'kind' | 'name'>,
  cluster: string,
): Sql {
  return alterTable(
    source,
    cluster,
    sql`DROP ${trusted(kind)} IF EXISTS ${identifier(name)} SETTINGS alter_sync = 0`,
  );
}

/** Empties a source's table. */
export function truncateTable(source: Source, cluster: string): Sql {
  return sql`TRUNCATE TABLE ${identifier(storedTable(source, cluster))}${onCluster(cluster)}`;
}

/** Deletes one day of a source, such as `2026-11-20`. */
export function dropDay(source: Source, day: string, cluster: string): Sql {
  return alterTable(source, cluster, sql`DROP PARTITION ${day}`);
}

/** Returns the tables that have the source's columns, the one that holds the rows first. */
function tableNames(source: Source, cluster: string): string[] {
  const stored = storedTable(source, cluster);
  return cluster === '' ? [stored] : [stored, source.table];
}

/** Alters the table that holds a source's rows. @param what such as `ADD COLUMN …` */
export function alterTable(source: Source, cluster: string, what: Sql): Sql {
  return sql`ALTER TABLE ${identifier(storedTable(source, cluster))}${onCluster(cluster)} ${what}`;
}

/** The `ON CLUSTER` clause of a statement. */
export function onCluster(cluster: string): Sql {
  return cluster === '' ? sql`` : sql` ON CLUSTER ${identifier(cluster)}`;
}

/** Names are quoted: `index`, `constraint` and `projection` are keywords there. They have letters, digits and `_`. */
function columnDefinition({ name, type, expression, codec, settings }: TableColumn): string {
  const parts = [`\`${name}\` ${type}`];
  if (expression !== '') parts.push(`DEFAULT ${expression}`);
  if (codec !== undefined) parts.push(`CODEC(${codec})`);
  if (settings !== undefined) parts.push(`SETTINGS (${settings})`);
  return parts.join(' ');
}

/** Data that the engine keeps beside the rows of each part: a data skipping index or a projection. */
export interface TableIndex {
  readonly kind: 'INDEX' | 'PROJECTION';
  readonly name: string;
  readonly definition: string;
}

/** Returns the indexes of a source's table, and its rollup. */
export function tableIndexes({ columns, rollup }: Source): TableIndex[] {
  const indexes = columns
    .filter((column) => column.hasSubstringIndex)
    .map(({ name }) => ({
      kind: 'INDEX' as const,
      name: `${name}_substrings`,
      definition: `\`${name}_substrings\` \`${name}\` TYPE ${SUBSTRINGS}`,
    }));
  return [MESSAGE_INDEX, ...indexes, ...(rollup === undefined ? [] : [rollupProjection(rollup)])];
}

// Three letters at a time: texts with identifiers in them have nearly all groups of four, and few of three. 4 KiB for each
// 8,192 rows is what one project's addresses fill by a third; bench/NOTES.md has the sizes that were tried.
const SUBSTRINGS = 'ngrambf_v1(3, 4096, 2, 0) GRANULARITY 8';

// For searches. Messages have identifiers, whose groups of three letters occur in any few thousand rows: hence four
// letters, and a filter for each granule. search/condition.ts writes the same expression.
const MESSAGE_INDEX: TableIndex = {
  kind: 'INDEX',
  name: 'event_message_substrings',
  definition: '`event_message_substrings` lower(event_message) TYPE ngrambf_v1(4, 4096, 1, 0) GRANULARITY 1',
};

// Rollups are aggregate projections: each part of a table keeps the aggregates of its own rows, so they follow late
// events, deletions, dropped days, merges and backups as the rows do. The engine reads them instead of rows if a query
// needs nothing else.

// A range of one project is some dozens of rows; with the engine's 8,192 a query would read those of all projects.
const ROWS_PER_GRANULE = 64;

/** Returns the projection of a rollup. Its name depends on its definition: no part's is that of another definition. */
export function rollupProjection(rollup: Rollup) {
  // As queries have to write it, letter by letter except for names of tables.
  const interval = `toStartOfInterval(timestamp, toIntervalMicrosecond(${rollup.everySeconds} * 1000000))`;
  const keys = ['project', interval, ...rollup.by.map((column) => `\`${column}\``)].join(', ');
  // The newlines end trailing comments.
  const values = rollup.values.map(({ sql }) => `${sql}\n`).join(', ');
  const select = `(SELECT ${keys}, ${values} GROUP BY ${keys}) WITH SETTINGS (index_granularity = ${ROWS_PER_GRANULE})`;
  const name = `rollup_${hash('sha256', select).slice(0, 16)}`;
  return { kind: 'PROJECTION' as const, name, definition: `\`${name}\` ${select}` };
}

/** Returns the names of a table's rollups that its source no longer has. @param definition of the table, by the engine */
export function findOldRollups({ rollup }: Source, definition: string): string[] {
  const present = rollup === undefined ? '' : rollupProjection(rollup).name;
  const found = definition.matchAll(/ PROJECTION (rollup_[0-9a-f]{16}) \(/g);
  return [...found].flatMap(([, name = '']) => (name === present ? [] : [name]));
}
