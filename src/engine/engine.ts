import type { SqlText, Values } from '../sql/sql.ts';
import type { BlockColumn } from './row-block.ts';

/** Bytes in the requested format. */
export interface QueryResult {
  readonly bytes: Buffer;
  /** Rows of the answer, as the engine counted them; `undefined` for row formats on a server, which streams those. */
  readonly rows: number | undefined;
  /** Time inside the engine, without the wait for a reader. */
  readonly elapsedMs: number;
  /** Core time of the query; a server, which sends none with an answer, has its `elapsedMs` here. */
  readonly coreMs: number;
}

/** Formats in which every row ends with exactly one newline and contains none, so that rows can be split as bytes. */
export type RowFormat = 'JSONEachRow' | 'TSVRaw' | 'TabSeparated';

/** Formats in which an answer is one file, which is valid even without rows: with a line of column names, or a schema. */
export type FileFormat = 'CSVWithNames' | 'ArrowStream' | 'Parquet';

/** Formats in which an answer is one JSON document: the rows, each on a line that begins with two tabs, and statistics. */
export type ReportFormat = 'JSON' | 'JSONCompact';

/** How a query queues for a reader. */
export interface QueueOptions {
  /** Lane of the key or its token (lanes.ts), or the name of internal work. Without one it has no bound for its lane. */
  readonly lane?: string | undefined;
  /** Registers a listener for the lanes of callers that join the flight: it runs at the first slot of any of them. */
  readonly onJoin?: ((listener: (lane: string) => void) => void) | undefined;
}

export interface QueryOptions extends QueueOptions {
  readonly format: RowFormat | FileFormat | ReportFormat;
  /** Endpoint and request, for the engine's query log. */
  readonly origin?: string | undefined;
  /**
   * Set for every statement with a caller's SQL, including the EXPLAINs that check it: it has the limits for callers'
   * SQL (read-settings.ts), and a server runs it as the sandbox user if there is one. `project`: the requested one, for
   * row policies; `undefined`: no project's rows are read.
   */
  readonly sandboxed?: { readonly project: string | undefined } | undefined;
  /**
   * The caller has written the statement and may read all rows: `query_failed` has the engine's own message, which
   * quotes both. Default: false.
   */
  readonly isAuthors?: boolean | undefined;
  /** Aborting stops the query inside the engine, not only the wait for it. */
  readonly signal?: AbortSignal | undefined;
}

/** Bounds of one query. At a bound it fails; it never returns a part of the answer. */
export interface QueryLimits {
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  readonly resultBytesMax: number;
}

/** Rows for one table. `token` deduplicates: rows sent again with it, within the engine's window, are stored once. */
export type InsertBatch = { readonly table: string; readonly token?: string } & (RowText | RowBlocks);

/** Rows as text, in one of the engine's formats. */
export interface RowText {
  readonly columns: readonly string[];
  /** A query's result in `TabSeparated` can be inserted unchanged. */
  readonly format: 'JSONCompactEachRow' | 'TabSeparated';
  readonly bytes: Buffer;
}

/** Rows by column (row-block.ts), for engines that take them: nothing is parsed, but an insert has a larger fixed cost. */
export interface RowBlocks {
  readonly columns: readonly BlockColumn[];
  readonly format: 'blocks';
  readonly blocks: readonly Uint8Array[];
}

/** Writes a statement with its values and search guards (sql/search-guard.ts). Called once the query has its slot. */
export type WriteStatement = () => string;

/** The engine's present state, for metrics. */
export interface EngineGauges {
  /** `unreachable`: of a server. `restarting`, `lost`: of the embedded engine; `lost` after several failed starts. */
  readonly state: 'up' | 'unreachable' | 'restarting' | 'lost';
  /** Restarts of the embedded engine, failed ones included. */
  readonly restarts: number;
  /** Resident memory of the embedded engine's process, bytes; unknown for a server. */
  readonly memoryBytes: number | undefined;
  readonly running: number;
  readonly queued: number;
}

/**
 * The abilities of every engine, tested by test/engine/contract.ts. Every failure is a `TailraceError`, except those of
 * `inspect`; src/engine/failure.ts maps the engine's codes to ours.
 */
export interface Engine {
  /** Whether all rows are stored through this object. If not, other processes may store rows unnoticed. */
  readonly seesEveryWrite: boolean;
  /** Whether `insert` takes rows as blocks; otherwise only as text. */
  readonly takesBlocks: boolean;
  /** The cluster of the tables; empty: a single server, or the embedded engine. */
  readonly cluster: string;
  /**
   * Runs one read-only statement. `@name` in `sql` is replaced by the value of that name, always a String, bound or
   * quoted by the engine's own rules. All work on the text follows the wait for a slot, so a rejected query costs no
   * such work.
   *
   * @throws TailraceError `query_failed`, `query_timeout`, `overloaded`, `engine_unavailable`; the signal's reason when
   * it was aborted
   */
  query(sql: string | WriteStatement, values: Values, options: QueryOptions): Promise<QueryResult>;
  /**
   * Adds rows; when it resolves they survive a crash of the process. Rows of one day are added all or none. After a
   * rejection the rows may or may not be stored; nothing changes later.
   */
  insert(batch: InsertBatch): Promise<void>;
  /** Runs DDL or a maintenance statement with the rights of the tables' owner, never a caller's text. */
  command<T extends string>(sql: SqlText<T>): Promise<void>;
  /**
   * Rows of an internal statement, for schema, checks and maintenance; never for a caller's query, since the engine's
   * error, which it throws, quotes the statement. The caller states what the statement selects; nothing checks it.
   */
  inspect<T extends string, Row extends object = Record<string, unknown>>(sql: SqlText<T>): Promise<Row[]>;
  gauges(): EngineGauges;
  /** Stops running queries, then releases the store. Idempotent. */
  close(): Promise<void>;
}
