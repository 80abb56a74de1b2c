import { type ExternalFile, isExternalFile, type ManagedFile } from './source-file.ts';
import type { YamlFile } from './yaml-file.ts';

/** What a typed column may hold. A value of another type is null in the column and stays as it came in the metadata. */
export type ColumnType = 'string' | 'keyword' | 'integer' | 'number' | 'boolean';

/** A column taken from a path of the event, such as `metadata.request.path`. */
export interface SourceColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Member names from the event's root. */
  readonly path: readonly string[];
  /** Where given, the column is never null: where the path has no text, these columns' values stand in, joined. */
  readonly otherwise: readonly string[] | undefined;
  /** Whether the table has an index of what its texts contain. */
  readonly hasSubstringIndex: boolean;
  readonly description: string;
}

/** SQL over the columns of an existing table, and where it stands in the source's file. */
export interface Expression {
  /** Of the column that it gives. */
  readonly name: string;
  readonly sql: string;
  readonly line: number;
}

/** A table that is there without Tailrace, which reads it as it is and never changes it. */
export interface ExternalTable {
  /** `undefined`: that of Tailrace's own tables. */
  readonly database: string | undefined;
  readonly table: string;
  /** Where it is named in the source's file. */
  readonly line: number;
  /** Of the columns of every event; those that are left out have a rule of their own. */
  readonly common: readonly Expression[];
  /** Of the typed columns, each by its name. */
  readonly typed: readonly Expression[];
}

/** A kind of log: its wire name, its table, and what is taken from its events. */
export interface Source {
  readonly id: string;
  readonly name: string;
  readonly table: string;
  readonly description: string;
  /** Infinite where the events are not Tailrace's to keep. */
  readonly retentionDays: number;
  /** Where an event says whose it is; the first place that holds a text wins. */
  readonly projectPaths: readonly (readonly string[])[];
  readonly columns: readonly SourceColumn[];
  /** Where given, the source's table is a view of this one: nothing is stored there, and nothing leaves. */
  readonly external: ExternalTable | undefined;
  readonly file: string;
}

/** Whether the source's table is Tailrace's own, which makes it, stores events in it and lets them go. */
export function isManaged(source: Source): boolean {
  return source.external === undefined;
}

/** The places of an event that may name its project, in the order they are tried after the source's own. */
const PROJECT_PLACES = ['project', 'metadata.project_ref', 'metadata.project'];

const RETENTION_DAYS = 90; // the longest tier window of logs.all (spec 4.2)

/** The source that a file of good shape defines. */
export function createSource(file: YamlFile): Source {
  // Either is proven by checkSourceShape, which readDefinitions runs first.
  return isExternalFile(file)
    ? createExternal(file, file.value as ExternalFile)
    : createManaged(file, file.value as ManagedFile);
}

function createManaged({ file }: YamlFile, value: ManagedFile): Source {
  const own = toPath(value.project);
  const others = PROJECT_PLACES.map(toPath).filter((path) => path.join('.') !== own.join('.'));
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    table: value.table,
    description: value.description,
    retentionDays: value.retention_days ?? RETENTION_DAYS,
    projectPaths: [own, ...others],
    columns: Object.entries(value.columns ?? {}).map(([name, column]) => ({
      name,
      type: column.type,
      path: toPath(column.path),
      otherwise: column.otherwise,
      hasSubstringIndex: column.index === 'substrings',
      description: column.description,
    })),
    external: undefined,
    file,
  };
}

function createExternal(file: YamlFile, value: ExternalFile): Source {
  const { map, columns = {} } = value;
  const lineOf = (...path: string[]) => file.fault(path, '').line;
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    table: value.table,
    description: value.description,
    retentionDays: Number.POSITIVE_INFINITY,
    projectPaths: [],
    columns: Object.entries(columns).map(([name, { type, description }]) => ({
      name,
      type,
      path: [],
      otherwise: undefined,
      hasSubstringIndex: false,
      description,
    })),
    external: {
      database: value.from.database,
      table: value.from.table,
      line: lineOf('from'),
      common: Object.entries(map).map(([name, sql]) => ({ name, sql, line: lineOf('map', name) })),
      typed: Object.entries(columns).map(([name, { expression: sql }]) => ({
        name,
        sql,
        line: lineOf('columns', name, 'expression'),
      })),
    },
    file: file.file,
  };
}

function toPath(path: string | readonly string[]): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
}
