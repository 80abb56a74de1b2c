// A little longer than other files: all statements about a source's table, which have to agree with each other.
import { COMMON_COLUMNS } from '../definitions/checks/source-columns.ts';
import type { ColumnType, Source, SourceColumn } from '../definitions/source.ts';
import { quote } from '../sql/quote.ts';

/** A column as the engine knows it. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** Computed for rows stored before the column was added; empty for the common columns. */
  readonly expression: string;
  /** Empty: the part's own, which is stronger once the part is `RECOMPRESSED_AFTER_DAYS` old. */
  readonly codec: string;
  /** Of this column alone; empty: the table's. */
  readonly settings: string;
}

/** A data skipping index. */
export interface TableIndex {
  readonly name: string;
  readonly definition: string;
}

// A granule of metadata is larger than a block of the default size: larger blocks are smaller on the disk, and a reader of one
// granule reads no more.
const LARGE_BLOCKS = 'min_compress_block_size = 1048576, max_compress_block_size = 2097152';

const COMMON: Record<(typeof COMMON_COLUMNS)[number], { type: string; codec: string; settings?: string }> = {
  id: { type: 'String', codec: 'ZSTD(1)' },
  timestamp: { type: "DateTime64(6, 'UTC')", codec: 'Delta(8), ZSTD(1)' },
  project: { type: 'LowCardinality(String)', codec: 'ZSTD(1)' },
  event_message: { type: 'String', codec: '' },
  // JSON text as it came: the JSON column type drops nulls, reorders keys and turns dotted keys into objects.
  metadata: { type: 'String', codec: '', settings: LARGE_BLOCKS },
  // The event's other top-level members, as JSON text of one object; empty where there are none.
  attributes: { type: 'String', codec: '' },
};

// `extract` reads the JSON value at a place, of which `kinds` are acceptable; the rule is the one of src/ingest/typed.ts.
const TYPES: Record<ColumnType, { type: string; extract: (at: string) => string; kinds: string }> = {
  string: { type: 'Nullable(String)', extract: (at) => `JSONExtractString(${at})`, kinds: "'String'" },
  keyword: {
    type: 'LowCardinality(Nullable(String))',
    extract: (at) => `JSONExtractString(${at})`,
    kinds: "'String'",
  },
  integer: { type: 'Nullable(Int64)', extract: safeInteger, kinds: "'Int64', 'UInt64', 'Double'" },
  number: {
    type: 'Nullable(Float64)',
    extract: (at) => `JSONExtractFloat(${at})`,
    kinds: "'Int64', 'UInt64', 'Double'",
  },
  boolean: { type: 'Nullable(Bool)', extract: (at) => `JSONExtractBool(${at})`, kinds: "'Bool'" },
};

/** Whole and exact as a double, as in `Number.isSafeInteger`; otherwise NULL. */
function safeInteger(at: string): string {
  const value = `JSONExtractFloat(${at})`;
  return `if(abs(${value}) <= ${Number.MAX_SAFE_INTEGER} AND ${value} = trunc(${value}), toInt64(${value}), NULL)`;
}

/** The names of `tableColumns`, in its order. */
export function columnNames(source: Source): string[] {
  return [...COMMON_COLUMNS, ...source.columns.map(({ name }) => name)];
}

/** The columns of a source's table: those of every event, then its typed ones. */
export function tableColumns(source: Source): TableColumn[] {
  const common = COMMON_COLUMNS.map((name) => ({ name, expression: '', settings: '', ...COMMON[name] }));
  return [...common, ...source.columns.map(typedColumn)];
}

/**
 * The typed column's value as an expression over the stored text. Events carry the value themselves when they are stored;
 * the engine computes this for those stored before the column was added, so that no data is rewritten. Its reader of JSON
 * gives up on a text with a number beyond 64 bits or a lone surrogate, anywhere in it: the computed value is then NULL.
 */
function typedColumn({ name, type, path, otherwise }: SourceColumn): TableColumn {
  const { type: sqlType, extract, kinds } = TYPES[type];
  const [first = '', ...rest] = path;
  const [column, keys] = first === 'metadata' ? ['metadata', rest] : ['attributes', path];
  const at = [column, ...keys.map(quote)].join(', ');
  const value = `if(JSONType(${at}) IN (${kinds}), CAST(${extract(at)}, ${quote(sqlType)}), NULL)`;
  const own = { codec: '', settings: '' };
  if (otherwise === undefined) return { name, type: sqlType, expression: value, ...own };
  const others = otherwise.map((other) => (other === 'project' ? other : `ifNull(\`${other}\`, '')`));
  return {
    name,
    type: 'String',
    expression: `ifNull(${value}, concat(${["''", ...others].join(', ')}))`,
    ...own,
  };
}

/** The indexes of a source's table. */
export function tableIndexes(source: Source): TableIndex[] {
  return source.columns
    .filter((column) => column.hasSubstringIndex)
    .map(({ name }) => ({
      name: `${name}_substrings`,
      definition: `\`${name}_substrings\` \`${name}\` TYPE ${SUBSTRINGS}`,
    }));
}

// Three letters at a time: texts with identifiers in them have nearly all groups of four, and few of three. 4 KiB for each
// 8,192 rows is what one project's addresses fill by a third; bench/NOTES.md has the sizes that were tried.
const SUBSTRINGS = 'ngrambf_v1(3, 4096, 2, 0) GRANULARITY 8';

// Deduplication tokens kept by a table: enough for the time between a crash and the retries of interrupted inserts.
const TOKENS_MAX = 10_000;

// Older parts are seldom read: compressing them harder saves a sixth of the disk.
const RECOMPRESSED_AFTER_DAYS = 1;

/**
 * The statements that create a source's table if it does not exist.
 *
 * On a cluster it is two: one on every server, with its share of the projects, each share on all replicas of its shard, and
 * one under the source's own name over all of these, through which everything is stored and read.
 *
 * @param cluster name of the cluster in the servers' configuration; empty: a single server, or the embedded engine
 */
export function createTable(source: Source, cluster: string): string[] {
  const stored = createStoredTable(source, cluster);
  if (cluster === '') return [stored];
  const target = `\`${cluster}\`, currentDatabase(), \`${storedTable(source, cluster)}\`, cityHash64(project)`;
  const over = `CREATE TABLE IF NOT EXISTS ${nameOf(source)}${onCluster(cluster)} AS \`${storedTable(source, cluster)}\`
ENGINE = Distributed(${target})`;
  return [stored, over];
}

/** The table that holds the rows: the source's own, or, on a cluster, that of each server. */
export function storedTable({ table }: Source, cluster: string): string {
  return cluster === '' ? table : `${table}_local`;
}

/**
 * An insert that was acknowledged is on the disk, not only with the operating system (`fsync_…`).
 * One part of a table a day, sorted by project and time, so that a day can be dropped as a whole.
 * Granules of 1,024 rows instead of 8,192: reading the newest 100 of a project touches eight times less.
 */
function createStoredTable(source: Source, cluster: string): string {
  const columns = tableColumns(source).map(columnDefinition);
  const indexes = tableIndexes(source).map((index) => `INDEX ${index.definition}`);
  const [engine, window] =
    cluster === ''
      ? ['MergeTree', 'non_replicated_deduplication_window']
      : ['ReplicatedMergeTree', 'replicated_deduplication_window'];
  return `CREATE TABLE IF NOT EXISTS \`${storedTable(source, cluster)}\`${onCluster(cluster)} (
  ${[...columns, ...indexes].join(',\n  ')}
) ENGINE = ${engine}
PARTITION BY toDate(timestamp)
ORDER BY (project, timestamp, id)
TTL ${TABLE_TTL}
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, default_compression_codec = 'ZSTD(1)',
  ${window} = ${TOKENS_MAX}, fsync_after_insert = 1, fsync_part_directory = 1`;
}

/** Drops an empty table. A cluster has no `IF EMPTY`: there the caller has to check first. */
export function dropTable(source: Source, cluster: string): string[] {
  const where = cluster === '' ? 'IF EXISTS IF EMPTY' : 'IF EXISTS';
  return tablesOf(source, cluster)
    .map((table) => `DROP TABLE ${where} ${table}${onCluster(cluster)}`)
    .toReversed();
}

export function addColumn(source: Source, column: TableColumn, cluster: string): string[] {
  const what = `ADD COLUMN IF NOT EXISTS ${columnDefinition(column)}`;
  return tablesOf(source, cluster).map((table) => `ALTER TABLE ${table}${onCluster(cluster)} ${what}`);
}

export function dropColumn(source: Source, { name }: TableColumn, cluster: string): string[] {
  const what = `DROP COLUMN IF EXISTS \`${name}\``;
  return tablesOf(source, cluster)
    .map((table) => `ALTER TABLE ${table}${onCluster(cluster)} ${what}`)
    .toReversed();
}

export function addIndex(source: Source, { definition }: TableIndex, cluster: string): string[] {
  return [
    `ALTER TABLE \`${storedTable(source, cluster)}\`${onCluster(cluster)} ADD INDEX IF NOT EXISTS ${definition}`,
  ];
}

export function dropIndex(source: Source, { name }: TableIndex, cluster: string): string[] {
  return [
    `ALTER TABLE \`${storedTable(source, cluster)}\`${onCluster(cluster)} DROP INDEX IF EXISTS \`${name}\``,
  ];
}

/** Empties a source's table. */
export function truncateTable(source: Source, cluster: string): string {
  return `TRUNCATE TABLE \`${storedTable(source, cluster)}\`${onCluster(cluster)}`;
}

/** Deletes one day of a source, such as `2026-11-20`. */
export function dropDay(source: Source, day: string, cluster: string): string {
  return `ALTER TABLE \`${storedTable(source, cluster)}\`${onCluster(cluster)} DROP PARTITION ${quote(day)}`;
}

/** The tables that have the source's columns, the one that holds the rows first. */
export function tableNames(source: Source, cluster: string): string[] {
  const stored = storedTable(source, cluster);
  return cluster === '' ? [stored] : [stored, source.table];
}

function tablesOf(source: Source, cluster: string): string[] {
  return tableNames(source, cluster).map((name) => `\`${name}\``);
}

/** The `ON CLUSTER` clause of a statement. */
export function onCluster(cluster: string): string {
  return cluster === '' ? '' : ` ON CLUSTER \`${cluster}\``;
}

/**
 * The condition that an event is within its source's retention.
 *
 * @param atMs the time by which its age is judged, ms since the epoch; `undefined`: the engine's own clock
 */
export function isKept(source: Source, atMs: number | undefined): string {
  const at = atMs === undefined ? "now64(6, 'UTC')" : `fromUnixTimestamp64Milli(${Math.trunc(atMs)}, 'UTC')`;
  return `timestamp > ${at} - toIntervalDay(${source.retentionDays})`;
}

/**
 * When events are compressed again, as the engine writes it back in `system.tables`, so that a change is seen by comparing
 * texts. The engine deletes nothing by itself: it would go by its clock, and a clock that is wrong for a moment would cost
 * every event (src/retention/retention.ts).
 */
export const TABLE_TTL = `timestamp + toIntervalDay(${RECOMPRESSED_AFTER_DAYS}) RECOMPRESS CODEC(ZSTD(9))`;

/** Whether a table's definition still has the clause by which the engine deleted old events itself. */
export function deletesByItself(definition: string): boolean {
  return /\bTTL timestamp \+ toIntervalDay\(\d+\)(?! RECOMPRESS)/.test(definition);
}

/** @param table its name, in quotes where that is needed */
export function setTableTtl(table: string, cluster: string): string {
  return `ALTER TABLE ${table}${onCluster(cluster)} MODIFY TTL ${TABLE_TTL} SETTINGS materialize_ttl_after_modify = 0`;
}

// In quotes: `index`, `constraint` and `projection` begin something else where a column is declared. The definition's schema
// proves that a name is made of letters, digits and underscores.
function nameOf({ table }: Source): string {
  return `\`${table}\``;
}

function columnDefinition({ name, type, expression, codec, settings }: TableColumn): string {
  const parts = [`\`${name}\` ${type}`];
  if (expression !== '') parts.push(`DEFAULT ${expression}`);
  if (codec !== '') parts.push(`CODEC(${codec})`);
  if (settings !== '') parts.push(`SETTINGS (${settings})`);
  return parts.join(' ');
}
