import { type Static, Type } from 'typebox';
import { closed, oneOf, optional, wholeNumber } from '../lib/schema.ts';
import { findParameters } from '../sql/parse.ts';
import { CHART_FIELDS, type Chart, createCharts } from './chart.ts';
import { createPages, PAGES_FIELDS, type Pages } from './pages.ts';
import { createParameter, type Parameter, PINNED_PREFIX } from './parameter.ts';
import { PARAMETER_FIELDS, PARAMETER_NAME, SEARCH_TEXT } from './parameter-type.ts';
import { createShapeCheck } from './shape.ts';
import type { Source, SourceColumn } from './source.ts';
import { UUID_TEXT } from './source-file.ts';
import type { YamlFile } from './yaml-file.ts';

/**
 * Dialects of callers' SELECTs besides the engine's own. src/dialect has the translator of both. `studio` is BigQuery's
 * as Supabase Studio writes it: two quotes in a text are one.
 */
export const DIALECT_NAMES = ['bigquery', 'studio'] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** The dialect of callers' SELECTs at an endpoint. */
export interface Dialect {
  readonly name: DialectName;
  /** Table → the columns that hold the value at a path of the event, and nothing else. */
  readonly tables: ReadonlyMap<string, readonly PathColumn[]>;
}

export type PathColumn = Pick<SourceColumn, 'name' | 'type' | 'path'>;

/**
 * The names that the service binds in the views of an endpoint with a dialect: bounds that a translator finds in a
 * caller's SELECT, empty if it finds none. Rows outside of them cannot change the answer, and are not read.
 */
export const SQL_BOUNDS = { from: 'sql_from', until: 'sql_until', id: 'sql_id' } as const;

/** What the names begin with that the service binds in a translation: `sql_at_0` and so on, its constant instants. */
export const SQL_INSTANT_PREFIX = 'sql_at_';

function createDialect(name: DialectName, sources: readonly Source[]): Dialect {
  const columnsOf = ({ columns }: Source) =>
    columns.filter(
      ({ path, otherPaths, otherwise }) =>
        path.length > 0 && otherPaths.length === 0 && otherwise === undefined,
    );
  return { name, tables: new Map(sources.map((source) => [source.table, columnsOf(source)])) };
}

const RESULT_TYPES = ['string', 'integer', 'number', 'boolean', 'json'] as const;
export type ResultType = (typeof RESULT_TYPES)[number];

/**
 * A column of the answer. The JSON text of a `json` column goes into the answer as it is. `search`: one for the events
 * that the column is about; src/search/verify.ts has checked it.
 */
export type ResultColumn = Readonly<EndpointFile['columns'][string]> & { readonly name: string };

/** A query before the last one. */
export type Step = Pick<Endpoint, 'columns' | 'maxRows'> & Required<Pick<Endpoint, 'writeSelect'>>;

/** Runs a query with the values, the lane and the deadline of the question. */
export type AskStep = (step: Step) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** The last query. */
export interface Prepared extends Required<Pick<Endpoint, 'writeSelect'>> {
  /** Share of the events that it reads, 0 to 1; `undefined`: all. */
  readonly sampledShare?: number | undefined;
  /** Says to a caller that gets no rows why. */
  readonly hint?: string | undefined;
}

/** A saved query as the service runs it (spec 2.1). */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly maxRows: number;
  /** Seconds that an answer may be served from the cache; `undefined` if caching is disabled. */
  readonly cachingSeconds: number | undefined;
  /** Seconds between refreshes of an answer in use; `undefined` if answers are not kept warm. */
  readonly warmingSeconds: number | undefined;
  readonly sandboxing: boolean;
  /** Whether an unknown parameter is rejected; otherwise it is ignored. */
  readonly strict: boolean;
  /** The dialect of callers' SELECTs; `undefined`: the engine's own. */
  readonly dialect: Dialect | undefined;
  /** Values that the service binds besides those of parameters: the bounds of a caller's SELECT. */
  readonly bound: Readonly<Record<string, string>> | undefined;
  /** How callers read the rows page by page; `undefined` if an answer has all of them. */
  readonly pages: Pages | undefined;
  readonly parameters: readonly Parameter[];
  /** Names of the parameters for which the SQL reads `@pinned_<name>`. */
  readonly pinned: readonly string[];
  /** Empty for a caller's SELECT: it declares no columns. */
  readonly columns: readonly ResultColumn[];
  /** How an answer is drawn; empty: as its values suggest. */
  readonly charts: readonly Chart[];
  /**
   * Places of the columns of JSON in which each object becomes a list of itself: those of a dialect whose records
   * repeat.
   */
  readonly repeatedColumns?: readonly number[];
  /** Columns of a caller's SELECT that are times of the engine, which an answer has as ISO 8601. */
  readonly timeColumns?: readonly string[];
  readonly sql: string;
  /** The endpoint's query.sql, or a caller's SELECT over its views (sandbox/base.ts). */
  readonly sqlOrigin: 'file' | 'select';
  /** Asked before `sql`, since it is faster: it has the same answer, or fails (query/steps.ts). */
  readonly typedFirst?: Endpoint;
  /**
   * Writes the query when it has its slot, instead of `sql`: that of a search may be large. Its texts have their guards
   * (sql/search-guard.ts).
   * @param value SQL for the value of a parameter, by its name
   */
  readonly writeSelect?: (value: (name: string) => string) => string;
  /** Runs the queries that shape the last one, which it returns: of a search that reads a sample (query/steps.ts). */
  readonly prepare?: (ask: AskStep) => Promise<Prepared>;
  /** Hash of the endpoint's two files. */
  readonly fileHash: string;
  /** Hash of everything that shapes an answer, including the sources; part of the cache key. */
  readonly hash: string;
  readonly file: string;
  readonly sqlFile: string;
  /** Given for one of files. */
  readonly fault?: YamlFile['fault'];
}

const ROWS_MAX = 1_000_000;
const SECONDS_MAX = 7 * 86_400;
const SECONDS = wholeNumber(SECONDS_MAX, 'seconds');

/** A name is also that of a folder. */
export const ENDPOINT_NAME = Type.String({
  pattern: '^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9_-]+)*$',
  maxLength: 100,
  expected:
    'words of small letters, digits, - and _, joined by dots, at most 100 characters, such as logs.all',
});

export const ENDPOINT_FILE = closed(
  {
    id: UUID_TEXT,
    name: ENDPOINT_NAME,
    description: Type.String(),
    max_rows: wholeNumber(ROWS_MAX),
    caching: Type.Union([SECONDS, Type.Literal('disabled')], {
      expected: `a whole number of seconds from 1 to ${SECONDS_MAX}, or "disabled"`,
    }),
    ...optional({
      cache_warming: SECONDS,
      query_sandboxing: Type.Boolean(),
      strict: Type.Boolean(),
      sql_dialect: oneOf(DIALECT_NAMES),
      cursor: PAGES_FIELDS,
      parameters: Type.Record(PARAMETER_NAME, PARAMETER_FIELDS, {
        additionalProperties: false,
        expected: 'a parameter name of letters, digits and underscores',
      }),
    }),
    columns: Type.Record(
      PARAMETER_NAME,
      closed({ type: oneOf(RESULT_TYPES), description: Type.String(), search: Type.Optional(SEARCH_TEXT) }),
      {
        ...{ additionalProperties: false, minProperties: 1 },
        expected: 'a column name of letters, digits and underscores',
      },
    ),
    chart: Type.Optional(CHART_FIELDS),
  },
  {
    gone: {
      bucket: 'write width and range of the time buckets in query.sql, as docs/time-buckets.md shows',
    },
  },
);

export type EndpointFile = Static<typeof ENDPOINT_FILE>;

/** The name of an endpoint as a tool of agents, and in operation ids: without `.` and `-`, which not all clients take. */
export function toToolName(name: string): string {
  return name.replaceAll(/[.-]/g, '_');
}

/** Finds faults of shape: unknown, missing or wrong fields. */
export const checkEndpointShape = createShapeCheck(ENDPOINT_FILE);

/** Returns the fields of a file that passed `checkEndpointShape`. */
export function endpointFields(file: YamlFile): EndpointFile {
  return file.value as EndpointFile; // readDefinitions has called checkEndpointShape
}

const EMPTY_BOUNDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(SQL_BOUNDS).map((name) => [name, '']),
);

/** Creates the endpoint that a checked pair of files defines. */
export function createEndpoint(
  file: YamlFile,
  sql: { readonly file: string; readonly text: string },
  { fileHash, hash, sources }: { fileHash: string; hash: string; sources: readonly Source[] },
): Endpoint {
  const value = endpointFields(file);
  const used = new Set(findParameters(sql.text).map((use) => use.name));
  const parameters = Object.entries(value.parameters ?? {});
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    description: value.description,
    maxRows: value.max_rows,
    cachingSeconds: value.caching === 'disabled' ? undefined : value.caching,
    warmingSeconds: value.cache_warming,
    sandboxing: value.query_sandboxing ?? false,
    strict: value.strict ?? false,
    dialect: value.sql_dialect && createDialect(value.sql_dialect, sources),
    bound: value.sql_dialect && EMPTY_BOUNDS,
    pages: value.cursor && createPages(value.cursor, value.columns, { sql: sql.text, sources }),
    parameters: parameters.map(([name, declared]) => createParameter(name, declared)),
    pinned: parameters.map(([name]) => name).filter((name) => used.has(PINNED_PREFIX + name)),
    columns: Object.entries(value.columns).map(([name, column]) => ({ name, ...column })),
    charts: createCharts(value.chart),
    sql: sql.text,
    sqlOrigin: 'file',
    fileHash,
    hash,
    file: file.file,
    sqlFile: sql.file,
    fault: file.fault,
  };
}

/** Whether the SQL is a caller's own SELECT (sandbox/base.ts). */
export function isAdHoc(endpoint: Pick<Endpoint, 'sqlOrigin'>): boolean {
  return endpoint.sqlOrigin === 'select';
}
