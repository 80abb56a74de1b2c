import type { ColumnType, Source } from './source.ts';

/**
 * Dialects of callers' SELECTs besides the engine's own. src/dialect/dialect.ts has a translator for each. `studio` is
 * BigQuery's as Supabase Studio writes it: two quotes in a text are one.
 */
export const DIALECT_NAMES = ['bigquery', 'studio'] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** The dialect of callers' SELECTs at an endpoint. */
export interface Dialect {
  readonly name: DialectName;
  /** Table → the columns that hold the value at a path of the event, and nothing else. */
  readonly tables: ReadonlyMap<string, readonly PathColumn[]>;
}

export interface PathColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly path: readonly string[];
}

/**
 * The names that the service binds in the views of an endpoint with a dialect: bounds that a translator finds in a
 * caller's SELECT, empty if it finds none. Rows outside of them cannot change the answer, and are not read.
 */
export const SQL_BOUNDS = { from: 'sql_from', until: 'sql_until', id: 'sql_id' } as const;

/** What the names begin with that the service binds in a translation: `sql_at_0` and so on, its constant instants. */
export const SQL_INSTANT_PREFIX = 'sql_at_';

export function createDialect(name: DialectName, sources: readonly Source[]): Dialect {
  const columnsOf = ({ columns }: Source) =>
    columns.filter(
      ({ path, otherPaths, otherwise }) =>
        path.length > 0 && otherPaths.length === 0 && otherwise === undefined,
    );
  return { name, tables: new Map(sources.map((source) => [source.table, columnsOf(source)])) };
}
