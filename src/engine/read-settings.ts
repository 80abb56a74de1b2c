import { LRUCache } from 'lru-cache';
import { createRewriter } from '../sql/parse.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { getValue, type Values, writeValue } from '../sql/sql.ts';
import type { FileFormat, QueryLimits, QueryOptions, WriteStatement } from './engine.ts';

/** Settings of ClickHouse, by its names. */
export type EngineSettings = Readonly<Record<string, number | string>>;

// The engine's own time limit is the second guard, in case a KILL fails.
const ENGINE_GRACE_MS = 1_000;
// A stored query of some kilobytes with parameters of the longest size.
export const SQL_BYTES_MAX = 128 * 1024 * 1024;

// Limits and kills take effect between blocks: with the default of 65,409 rows a costly function outlives them by far.
const BLOCK_ROWS_MAX = 8_192;

/**
 * Levels of SELECTs, views included. The engine analyses a SELECT in an expression twice, so that the time doubles with
 * each level: of 19 it is a second, and no KILL stops it.
 */
export const SUBQUERY_DEPTH_MAX = 20;

/** Numbers are never quoted, `/` is never escaped, a number that JSON cannot write is null. */
export const FORMAT_SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_json_validate_utf8: 1,
} as const;

/** Sent to a server only with queries in these formats: the profiles of older deployments do not allow them. */
const FILE_SETTINGS: Readonly<Record<FileFormat, EngineSettings>> = {
  // RFC 4180. Every text is quoted, even an empty one, so that nothing between two commas means NULL.
  CSVWithNames: { output_format_csv_crlf_end_of_line: 1, format_csv_null_representation: '' },
  // Readers in JavaScript have no codec for the default, LZ4.
  ArrowStream: { output_format_arrow_compression_method: 'none' },
  Parquet: {},
};

export const ALL_FILE_SETTINGS: EngineSettings = Object.assign({}, ...Object.values(FILE_SETTINGS));

/** `undefined` for a row format. */
export function fileSettings(format: QueryOptions['format']): EngineSettings | undefined {
  return Object.hasOwn(FILE_SETTINGS, format) ? FILE_SETTINGS[format as FileFormat] : undefined; // its keys are the formats
}

/** Settings of every reader of every engine. `readonly` has to come last. */
export function readSettings(limits: QueryLimits): EngineSettings {
  return {
    ...FORMAT_SETTINGS,
    max_execution_time: (limits.timeoutMs + ENGINE_GRACE_MS) / 1000,
    max_memory_usage: limits.memoryBytesMax,
    max_result_bytes: limits.resultBytesMax,
    result_overflow_mode: 'throw',
    max_query_size: SQL_BYTES_MAX,
    max_block_size: BLOCK_ROWS_MAX,
    max_subquery_depth: SUBQUERY_DEPTH_MAX,
  };
}

/**
 * Further limits of statements with a caller's SQL. While the engine parses a text, resolves its names and computes its
 * constants, no KILL stops it: these end it there. A server has them in the profile of its user for callers' SQL
 * (deploy/clickhouse/users.sql).
 */
export const SANDBOX_LIMITS = {
  // With the stored query and its values; the engine's own formatting of a text is longer than the text.
  max_query_size: 128 * 1024,
  max_parser_depth: 300,
  max_parser_backtracks: 100_000,
  max_ast_depth: 200,
  max_ast_elements: 5_000,
  max_expanded_ast_elements: 20_000, // an alias that is used twice counts twice
  max_subquery_depth: SUBQUERY_DEPTH_MAX,
  max_temporary_columns: 2_000,
  max_result_rows: 1_000_000,
  // Smaller steps, between which limits and kills take effect.
  max_untracked_memory: 1024 * 1024,
  max_joined_block_size_rows: BLOCK_ROWS_MAX,
  preferred_block_size_bytes: 1024 * 1024,
} as const satisfies EngineSettings;

/** The settings that a server's user for callers' SQL gets with each query; its profile has to allow each. */
export function sandboxSettings(limits: QueryLimits): EngineSettings {
  return { ...readSettings(limits), max_query_size: SANDBOX_LIMITS.max_query_size };
}

/** A statement with bound parameters: `values` holds the texts that it names; numbers are written into it. */
export interface BoundStatement {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
}

const STATEMENTS_MAX = 500;
// Bound values are sent in the URL, and proxies accept some kilobytes at most.
const BOUND_CHARS_MAX = 2_000;

/** Parses the rows of an answer in JSONEachRow. */
export function parseRows<Row extends object = Record<string, unknown>>(bytes: Buffer): Row[] {
  const lines = bytes.toString().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Row);
}

/** Replaces each `@name` with its value as a literal, and guards searches (sql/search-guard.ts). */
export function createValueWriter(): (sql: string | WriteStatement, values: Values) => string {
  const getRewriter = createRewriters();
  return (sql, values) => {
    if (typeof sql !== 'string') return sql();
    return getRewriter(sql, values)((name) => writeValue(getValue(values, name)));
  };
}

/** Like `createValueWriter`, but writes `{name:String}`, which the server binds, for values that fit into a URL. */
export function createValueBinder(): (sql: string | WriteStatement, values: Values) => BoundStatement {
  const getRewriter = createRewriters();
  return (sql, values) => {
    if (typeof sql !== 'string') return { sql: sql(), values: {} };
    const rewrite = getRewriter(sql, values);
    const bound: Record<string, string> = {};
    let chars = 0;
    const text = rewrite((name) => {
      const given = getValue(values, name);
      if (typeof given === 'number') return writeValue(given);
      const value = given.toWellFormed();
      if (!Object.hasOwn(bound, name)) chars += value.length;
      bound[name] = value;
      return `{${name}:String}`;
    });
    if (chars <= BOUND_CHARS_MAX) return { sql: text, values: bound };
    return { sql: rewrite((name) => writeValue(getValue(values, name))), values: {} };
  };
}

/** Caches the split text of each statement, since the same few are run again and again. */
function createRewriters() {
  const cache = new LRUCache<string, ReturnType<typeof createRewriter>>({
    max: STATEMENTS_MAX,
    memoMethod: (sql) => createRewriter(sql),
  });
  return (sql: string, values: Values) =>
    cache.memo(guardSearches(sql, (name) => String(getValue(values, name)).toWellFormed()));
}
