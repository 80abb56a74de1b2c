/** An engine's result: bytes in the requested format, and the time that they took. */
export interface QueryResult {
  readonly bytes: Buffer;
  /** Time inside the engine, without the wait for a reader. */
  readonly elapsedMs: number;
}

/** Formats in which every row ends with exactly one newline and contains none, so that rows can be split as bytes. */
export type RowFormat = 'JSONEachRow' | 'TSVRaw' | 'TabSeparated';

/** How a query queues for a reader. */
export interface QueueOptions {
  /** Lane of the key or its token (lanes.ts), or the name of internal work. Without one the query has no bound of its own. */
  readonly lane?: string | undefined;
  /** Registers a listener for the lanes of callers that join the same flight: the query runs at the first slot of any of them. */
  readonly onJoin?: ((listener: (lane: string) => void) => void) | undefined;
}

/** A statement that holds SQL of a caller. */
export interface Sandboxed {
  /** The requested project, for row policies of the server; `undefined`: the statement reads no project's rows. */
  readonly project: string | undefined;
}

export interface QueryOptions extends QueueOptions {
  readonly format: RowFormat;
  /** Endpoint and request, for the engine's own query log. */
  readonly origin?: string | undefined;
  /**
   * The same text for the same question at any time: a question that has ended the engine twice is refused by it. Default: the
   * statement itself.
   */
  readonly identity?: string | undefined;
  /**
   * Set for every statement with SQL of a caller, including the EXPLAINs that check it: a server runs it as the sandbox user if
   * there is one. The embedded engine has one kind of reader and ignores it.
   */
  readonly sandboxed?: Sandboxed | undefined;
  /** Aborting stops the query inside the engine, not only the wait for it. */
  readonly signal?: AbortSignal | undefined;
}

/** Bounds of one query. At a bound it fails; it never returns a part of the answer. */
export interface QueryLimits {
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  readonly resultBytesMax: number;
}

/** `TabSeparated`: a query's result in that format can be inserted as it is. */
export type InsertFormat = 'JSONCompactEachRow' | 'TabSeparated';

/** Rows for one table, already written in the engine's format. */
export interface InsertBatch {
  readonly table: string;
  readonly columns: readonly string[];
  readonly format: InsertFormat;
  readonly bytes: Buffer;
  /** The minutes (since 1970) of the rows' events; left out if unknown. */
  readonly minutes?: Iterable<number>;
  /** Deduplication token: rows sent again with it, within the engine's window, are not stored again. */
  readonly token?: string;
}

/** Table → a condition of Tailrace's own SQL on its columns. */
export type ReadFilters = ReadonlyMap<string, string>;

/** The engine's present state, for metrics. */
export interface EngineGauges {
  /**
   * `unreachable`: a server does not answer. `restarting`: the embedded engine is being started again. `lost`: that failed
   * several times in a row; it is still tried.
   */
  readonly state: 'up' | 'unreachable' | 'restarting' | 'lost';
  /** Restarts of the embedded engine, failed ones included. */
  readonly restarts: number;
  /** Resident memory of the embedded engine's process, bytes; unknown for a server. */
  readonly memoryBytes: number | undefined;
  readonly running: number;
  readonly queued: number;
}

/**
 * The abilities of every engine. Each passes test/engine/contract.ts unchanged.
 *
 * Every failure is a `TailraceError`, but for `inspect`; src/engine/failure.ts maps the engine's codes to ours.
 */
export interface Engine {
  /** Whether all rows are stored through this object. If not, other processes may store rows unseen. */
  readonly seesEveryWrite: boolean;
  /** The cluster of the tables; empty: a single server, or the embedded engine. */
  readonly cluster: string;
  /**
   * Runs one read-only statement. `@name` in `sql` is replaced by the value of that name, always a String, bound or
   * quoted by the engine's own rules.
   *
   * @throws TailraceError `query_failed`, `query_timeout`, `overloaded`, `engine_unavailable`; the signal's reason when
   * it was aborted
   */
  query(sql: string, values: Readonly<Record<string, string>>, options: QueryOptions): Promise<QueryResult>;
  /**
   * Adds rows; when it resolves they survive a crash of the process. Rows of one day are added all or none. After a rejection the
   * rows may or may not be stored; nothing changes later.
   */
  insert(batch: InsertBatch): Promise<void>;
  /** Runs DDL or a maintenance statement with the rights of the owner of the data. Never given a caller's text. */
  command(sql: string): Promise<void>;
  /**
   * Rows of a statement of Tailrace's own, parsed: for schema, checks and maintenance, never for a caller's query, since it
   * throws the engine's own error, which quotes what it was asked.
   */
  inspect(sql: string): Promise<Record<string, unknown>[]>;
  /**
   * From the next query on, queries see only the rows of a table that meet the table's condition. Waits for running queries to
   * end.
   */
  setReadFilters(filters: ReadFilters): Promise<void>;
  gauges(): EngineGauges;
  /** Stops what still runs, then releases the store. Idempotent. */
  close(): Promise<void>;
}
