import { parseSql } from '../sql/parse.ts';
import { type Accept, createAccepts, createEventFilter, type EventFilter, toPaths } from './accepts.ts';
import { createLevel, type LevelRule } from './level.ts';
import { type ExternalFile, isExternalFile, type ManagedFile } from './source-file.ts';
import type { YamlFile } from './yaml-file.ts';

/** Type of a typed column. A value of another type is null in the column and remains in the metadata. */
export type ColumnType = 'string' | 'keyword' | 'integer' | 'number' | 'boolean';

/** A column taken from a path of the event, such as `metadata.request.path`, or computed from another column. */
export interface SourceColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Member names from the event's root; none if the column is computed. */
  readonly path: readonly string[];
  /** Further paths: the first of all that holds a value of the type counts. */
  readonly otherPaths: readonly (readonly string[])[];
  /** If given, the column says whether another column of texts contains `text`, case-sensitively; it is never null. */
  readonly contains: ContainedText | undefined;
  /** If given, the column is never null: without a text at its paths it holds these columns' values, joined. */
  readonly otherwise: readonly string[] | undefined;
  /** Whether the table has an index for substring searches in the column. */
  readonly hasSubstringIndex: boolean;
  /** Whether it is the column of the source's level: a number at its paths becomes the name of its level. */
  readonly isLevel?: true;
  readonly description: string;
}

export interface ContainedText {
  /** The column that is searched. */
  readonly column: string;
  /** `undefined`: the event's project. */
  readonly text: string | undefined;
}

/** SQL over the columns of an existing table. */
export interface Expression {
  /** The column that it computes. */
  readonly name: string;
  readonly sql: string;
  /** In the source's file. */
  readonly line: number;
}

/** An existing table, which Tailrace reads and never changes. */
export interface ExternalTable {
  /** `undefined`: the database of Tailrace's own tables. */
  readonly database: string | undefined;
  readonly table: string;
  /** The line of `from` in the source's file. */
  readonly line: number;
  /** The expressions of common columns; engine/schema.ts has a default for those left out. */
  readonly common: readonly Expression[];
  /** The expressions of typed columns. */
  readonly typed: readonly Expression[];
}

/** Aggregates that a table keeps beside its rows, by project and interval of time. */
export interface Rollup {
  /** Length of an interval; a divisor of a day. */
  readonly everySeconds: number;
  /** Typed columns by which an interval is divided further. */
  readonly by: readonly string[];
  /** Aggregates, as queries write them. */
  readonly values: readonly Pick<Expression, 'sql' | 'line'>[];
}

/** A kind of log: its wire name, its table, and the columns taken from its events. */
export interface Source {
  readonly id: string;
  readonly name: string;
  readonly table: string;
  readonly description: string;
  /** Days that events are kept; infinite for an existing table, from which Tailrace deletes nothing. */
  readonly retentionDays: number;
  /** Paths to the project of an event; the first that holds a text wins. */
  readonly projectPaths: readonly (readonly string[])[];
  /** Paths to the id of an event without the member `id`; the first that exists wins. */
  readonly idPaths?: readonly (readonly string[])[];
  /** Paths to the text of an event with neither `event_message` nor `message`; the first that exists wins. */
  readonly messagePaths?: readonly (readonly string[])[];
  /** Paths to the time of an event without `timestamp`; the first that is a time wins. */
  readonly timePaths?: readonly (readonly string[])[];
  /** The events of other protocols that belong here; none if empty. */
  readonly accepts?: readonly Accept[];
  /** What happens to its events before they are stored; nothing if undefined. */
  readonly filter?: EventFilter;
  readonly columns: readonly SourceColumn[];
  /** The rule for levels of events; without it they have none. */
  readonly level?: LevelRule;
  /** Links of values to pages elsewhere, which the console offers; none if undefined. */
  readonly links?: NonNullable<ManagedFile['links']>;
  readonly rollup: Rollup | undefined;
  /** If given, the source's table is a view of this one: nothing is stored or deleted there. */
  readonly external: ExternalTable | undefined;
  readonly file: string;
  /** Whether only Tailrace itself writes events to it: searches that name no source leave it out. */
  readonly isInternal?: boolean;
  /**
   * Whether its events cannot be deleted before their retention ends, and only callers that may manage everything can
   * search them.
   */
  readonly isProtected?: boolean;
}

/** Whether Tailrace creates the source's table, stores events in it and deletes them. */
export function isManaged(source: Source): boolean {
  return source.external === undefined;
}

/** Paths to an event's project, tried in this order after the source's own. */
const PROJECT_PLACES = ['project', 'metadata.project_ref', 'metadata.project'];

const RETENTION_DAYS = 90; // the longest tier window of logs.all (spec 4.2)

/** Creates the source that a file defines, which passed `checkSource`. */
export function createSource(file: YamlFile): Source {
  if (isExternalFile(file)) return createExternal(file, file.value as ExternalFile);
  return createManaged(file, file.value as ManagedFile);
}

/** Reads the fields that both kinds of sources have. */
function identify({ file }: YamlFile, value: ManagedFile | ExternalFile) {
  const { id, name, table, description, level, links } = value;
  const rule = level && { level: createLevel(level) };
  return { id: id.toLowerCase(), name, table, description, file, ...rule, ...(links && { links }) };
}

function createManaged(file: YamlFile, value: ManagedFile): Source {
  const filter = createEventFilter(value);
  const own = toPaths(value.project);
  const isOwn = (path: readonly string[]) => own.some((one) => one.join('.') === path.join('.'));
  const others = PROJECT_PLACES.flatMap(toPaths).filter((path) => !isOwn(path));
  return {
    ...identify(file, value),
    retentionDays: value.retention_days ?? RETENTION_DAYS,
    projectPaths: [...own, ...others],
    ...(value.event_id !== undefined && { idPaths: toPaths(value.event_id) }),
    ...(value.message !== undefined && { messagePaths: toPaths(value.message) }),
    ...(value.time !== undefined && { timePaths: toPaths(value.time) }),
    ...(value.accepts !== undefined && { accepts: createAccepts(value.accepts) }),
    ...(filter !== undefined && { filter }),
    ...(value.internal === true && { isInternal: true }),
    ...(value.protected === true && { isProtected: true }),
    columns: Object.entries(value.columns ?? {}).map(([name, column]) => {
      const [path = [], ...otherPaths] = column.path === undefined ? [] : toPaths(column.path);
      return {
        ...{ name, type: column.type, path, otherPaths },
        contains: toContains(column),
        otherwise: column.otherwise,
        hasSubstringIndex: column.index === 'substrings',
        ...(name === value.level?.column && { isLevel: true }),
        description: column.description,
      };
    }),
    rollup: createRollup(file, value.rollup),
    external: undefined,
  };
}

function createRollup(file: YamlFile, rollup: ManagedFile['rollup']): Rollup | undefined {
  if (rollup === undefined) return undefined;
  const lineOf = (index: number) => file.fault(['rollup', 'values', String(index)], '').line;
  return {
    everySeconds: rollup.every,
    by: rollup.by ?? [],
    values: rollup.values.map((sql, index) => ({ sql, line: lineOf(index) })),
  };
}

function createExternal(file: YamlFile, value: ExternalFile): Source {
  const { map, columns = {} } = value;
  const lineOf = (...path: string[]) => file.fault(path, '').line;
  return {
    ...identify(file, value),
    retentionDays: Number.POSITIVE_INFINITY,
    projectPaths: [],
    columns: Object.entries(columns).map(([name, { type, description }]) => ({
      name,
      type,
      path: [],
      otherPaths: [],
      contains: undefined,
      otherwise: undefined,
      hasSubstringIndex: false,
      description,
    })),
    rollup: undefined,
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
  };
}

function toContains({ column, contains }: NonNullable<ManagedFile['columns']>[string]) {
  if (column === undefined || contains === undefined) return undefined;
  return { column, text: typeof contains === 'string' ? contains : undefined };
}

/** Returns the sources whose tables the SQL names: a query cannot read others. A source too many only costs work. */
export function findSources(sql: string, sources: readonly Source[]): Source[] {
  const named = new Set<string>();
  for (const { kind, text } of parseSql(sql).words) {
    if (kind === 'word') named.add(text);
    if (kind === 'name') named.add(text.slice(1, -1));
    if (kind === 'name' && text.includes('\\')) return [...sources]; // an escape may spell any name
  }
  return sources.filter(({ table }) => named.has(table));
}
