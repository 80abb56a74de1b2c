import { parseSql } from '../sql/parse.ts';
import { type Accept, createAccepts, createEventFilter, type EventFilter, toPaths } from './accepts.ts';
import { createLevel, type LevelRule } from './level.ts';
import type { ExternalFile, ManagedFile } from './source-file.ts';
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
  /** Whether another column contains `text`, or without it the event's project, case-sensitively; never null. */
  readonly contains: { readonly column: string; readonly text: string | undefined } | undefined;
  /** If given, the column is never null: without a text at its paths it holds these columns' values, joined. */
  readonly otherwise: readonly string[] | undefined;
  /** Whether the table has an index for substring searches in the column. */
  readonly hasSubstringIndex: boolean;
  /** Whether it is the column of the source's level: a number at its paths becomes the name of its level. */
  readonly isLevel?: true;
  readonly description: string;
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
  readonly idPaths?: readonly (readonly string[])[] | undefined;
  /** Paths to the text of an event with neither `event_message` nor `message`; the first that exists wins. */
  readonly messagePaths?: readonly (readonly string[])[] | undefined;
  /** Paths to the time of an event without `timestamp`; the first that is a time wins. */
  readonly timePaths?: readonly (readonly string[])[] | undefined;
  /** The events of other protocols that belong here; none if empty. */
  readonly accepts?: readonly Accept[] | undefined;
  /** What happens to its events before they are stored; nothing if undefined. */
  readonly filter?: EventFilter | undefined;
  readonly columns: readonly SourceColumn[];
  /** The rule for levels of events; without it they have none. */
  readonly level?: LevelRule | undefined;
  /** Links of values to pages elsewhere, which the console offers; none if undefined. */
  readonly links?: ManagedFile['links'] | undefined;
  readonly rollup: Rollup | undefined;
  /** If given, the source's table is a view of this one: nothing is stored or deleted there. */
  readonly external: ExternalTable | undefined;
  readonly file: string;
  /** Whether only Tailrace itself writes events to it: searches that name no source leave it out. */
  readonly isInternal?: boolean | undefined;
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

type LineOf = (...path: string[]) => number;

/** Creates the source that a file defines, which passed `checkSource`. */
export function createSource(file: YamlFile): Source {
  const value = file.value as ManagedFile | ExternalFile;
  const { id, name, table, description, level, links } = value;
  const lineOf: LineOf = (...path) => file.fault(path, '').line;
  return {
    ...{ id: id.toLowerCase(), name, table, description, file: file.file },
    ...{ level: level && createLevel(level), links },
    ...(value.managed === false ? readExternal(value, lineOf) : readManaged(value, lineOf)),
  };
}

function readManaged(value: ManagedFile, lineOf: LineOf) {
  const own = toPaths(value.project);
  const isOwn = (path: readonly string[]) => own.some((one) => one.join('.') === path.join('.'));
  const others = PROJECT_PLACES.flatMap(toPaths).filter((path) => !isOwn(path));
  const pathsOf = (path: ManagedFile['time']) => (path === undefined ? undefined : toPaths(path));
  const { rollup } = value;
  return {
    retentionDays: value.retention_days ?? RETENTION_DAYS,
    projectPaths: [...own, ...others],
    idPaths: pathsOf(value.event_id),
    messagePaths: pathsOf(value.message),
    timePaths: pathsOf(value.time),
    accepts: value.accepts && createAccepts(value.accepts),
    filter: createEventFilter(value),
    isInternal: value.internal,
    ...(value.protected === true && { isProtected: true }),
    columns: createColumns(value.columns, value.level?.column),
    rollup: rollup && {
      everySeconds: rollup.every,
      by: rollup.by ?? [],
      values: rollup.values.map((sql, i) => ({ sql, line: lineOf('rollup', 'values', String(i)) })),
    },
    external: undefined,
  };
}

function readExternal({ from, map, columns = {} }: ExternalFile, lineOf: LineOf) {
  const common = Object.entries(map);
  return {
    retentionDays: Number.POSITIVE_INFINITY,
    projectPaths: [],
    columns: createColumns(columns),
    rollup: undefined,
    external: {
      database: from.database,
      table: from.table,
      line: lineOf('from'),
      common: common.map(([name, sql]) => ({ name, sql, line: lineOf('map', name) })),
      typed: Object.entries(columns).map(([name, { expression: sql }]) => ({
        name,
        sql,
        line: lineOf('columns', name, 'expression'),
      })),
    },
  };
}

/** @param columns those of an existing table have only a type and a description here */
function createColumns(columns: ManagedFile['columns'] = {}, level?: string): SourceColumn[] {
  return Object.entries(columns).map(([name, { type, path: paths, description, ...fields }]) => {
    const [path = [], ...otherPaths] = paths === undefined ? [] : toPaths(paths);
    const { column, contains, otherwise, index } = fields;
    const text = typeof contains === 'string' ? contains : undefined;
    return {
      ...{ name, type, path, otherPaths },
      contains: column === undefined || contains === undefined ? undefined : { column, text },
      otherwise,
      hasSubstringIndex: index === 'substrings',
      ...(name === level && { isLevel: true }),
      description,
    };
  });
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
