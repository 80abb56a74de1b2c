/** What an engine gives back: its own bytes in the format asked for, and what they cost. */
export interface QueryResult {
  readonly bytes: Buffer;
  /** Time inside the engine, its wait for a reader not included. */
  readonly elapsedMs: number;
}

/** Formats in which every row ends with exactly one newline and holds none, so that rows can be told apart as bytes. */
export type RowFormat = 'JSONEachRow' | 'TSVRaw' | 'TabSeparated';

/** Whose a query is, so that its wait for a reader can be shared out fairly. */
export interface Whose {
  /** Of the key or its token (lanes.ts), or the name of work of the service's own; lanes take turns. Without one it has no bound of its own. */
  readonly lane?: string | undefined;
  /** Hands on a listener for the lanes of callers who come to wait for the same answer: the first turn of any of them counts. */
  readonly onJoin?: ((listener: (lane: string) => void) => void) | undefined;
}

/** A statement that holds SQL of a caller. */
export interface Sandboxed {
  /** The project that the request asks for, for row policies of the server; `undefined`: the statement reads no rows of one. */
  readonly project: string | undefined;
}

export interface QueryOptions extends Whose {
  readonly format: RowFormat;
  /** Which endpoint and request ask, for the log that the engine itself may keep. */
  readonly origin?: string | undefined;
  /**
   * The same text each time that the same is asked, whatever the instant: what has ended the engine twice is refused by it.
   * Left out: the statement itself.
   */
  readonly identity?: string | undefined;
  /**
   * Set for every statement that holds SQL of a caller, the EXPLAINs that check it included: a server runs it as the user for
   * such, where it has one. The embedded engine has one kind of reader and ignores it.
   */
  readonly sandboxed?: Sandboxed | undefined;
  /** Aborting stops the query inside the engine, not only the wait for it. */
  readonly signal?: AbortSignal | undefined;
}

/** What one query may take. At the bound it fails; it never returns less than was asked for. */
export interface QueryLimits {
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  readonly resultBytesMax: number;
}

/** `TabSeparated`: what a query gave in that format goes in again as it is. */
export type InsertFormat = 'JSONCompactEachRow' | 'TabSeparated';

/** Rows for one table, already written in the engine's format. */
export interface InsertBatch {
  readonly table: string;
  readonly columns: readonly string[];
  readonly format: InsertFormat;
  readonly bytes: Buffer;
  /** The minutes since 1970 in which the rows' events lie; left out where nobody has looked. */
  readonly minutes?: Iterable<number>;
  /** Rows that come again under one token, within the engine's window, are not stored again. */
  readonly token?: string;
}

/** Table → a condition of Tailrace's own SQL on its columns. */
export type ReadFilters = ReadonlyMap<string, string>;

/** Where the engine stands now, for metrics. */
export interface EngineGauges {
  /**
   * `unreachable`: a server does not answer. `restarting`: the embedded engine is being started again. `lost`: that failed
   * several times in a row; it is still tried.
   */
  readonly state: 'up' | 'unreachable' | 'restarting' | 'lost';
  /** Times that the embedded engine has ended and was to be started again. */
  readonly restarts: number;
  /** Resident memory of the embedded engine's process, bytes; of a server's it is not known. */
  readonly memoryBytes: number | undefined;
  readonly running: number;
  readonly queued: number;
}

/**
 * What every engine can do. test/engine/contract.ts is the suite that each passes unchanged.
 *
 * Every failure is a `TailraceError`, but for `inspect`; src/engine/failure.ts maps the engine's codes to ours.
 */
export interface Engine {
  /** Whether nothing is stored but through this object; otherwise events may come in by a way that it does not see. */
  readonly seesEveryWrite: boolean;
  /** The cluster over which the tables are spread; empty: they are in one place. */
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
   * Adds rows; when it resolves they survive a crash of the process. Rows of one day are added all or none. When it rejects,
   * whatever comes of them has come.
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
   * From the next query on, a row of a table is seen only where the table's condition holds, whatever the query asks for.
   * Queries that run now end first.
   */
  setReadFilters(filters: ReadFilters): Promise<void>;
  gauges(): EngineGauges;
  /** Stops what still runs, then releases the store. Idempotent. */
  close(): Promise<void>;
}
