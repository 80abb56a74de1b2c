import type { FileFormat, QueryLimits, QueryOptions } from './engine.ts';

/** Settings of ClickHouse, by its names. */
export type EngineSettings = Readonly<Record<string, number | string>>;

// The engine's own time limit is the second guard, in case a KILL fails.
const ENGINE_GRACE_MS = 1_000;
// A stored query of some kilobytes with parameters of the longest size.
export const SQL_BYTES_MAX = 128 * 1024 * 1024;

// A caller's SELECT has at most 16 KiB (sandbox.ts); the engine's own formatting of it is longer.
const SANDBOX_SQL_BYTES_MAX = 4 * 1024 * 1024;
// Limits and kills take effect between blocks: with the default of 65,409 rows a costly function outlives them by far.
const BLOCK_ROWS_MAX = 8_192;

/** Numbers are never quoted, `/` is never escaped, a number that JSON cannot write is null. */
export const FORMAT_SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_json_validate_utf8: 1,
} as const;

/**
 * Further settings of formats, sent to a server only with queries in them: the profiles of older deployments do not
 * allow them.
 */
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
  };
}

/**
 * The same for the user that runs callers' SQL. Its profile in deploy/clickhouse/users.sql has to allow each of these
 * settings.
 */
export function sandboxSettings(limits: QueryLimits): EngineSettings {
  return { ...readSettings(limits), max_query_size: SANDBOX_SQL_BYTES_MAX };
}
