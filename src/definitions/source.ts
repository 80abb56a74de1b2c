import { parseSql } from '../sql/parse.ts';
import { createAccepts, createEventFilter, toPaths } from './accepts.ts';
import { createLevel } from './level.ts';
import type { ExternalFile, ManagedFile } from './source-file.ts';
import type { YamlFile } from './yaml-file.ts';

/** Type of a typed column. A value of another type is null in the column and remains in the metadata. */
export type ColumnType = 'string' | 'keyword' | 'integer' | 'number' | 'boolean';

/** A column taken from a path of the event, such as `metadata.request.path`, or computed from another column. */
export type SourceColumn = Readonly<ReturnType<typeof createColumns>[number]>;

/** SQL over the columns of a table, with its line in the source's file. */
export interface Expression {
  /** The column that it computes. */
  readonly name: string;
  readonly sql: string;
  readonly line: number;
}

/** An existing table, which Tailrace reads and never changes. */
export type ExternalTable = Readonly<ReturnType<typeof createExternal>>;

/** Aggregates that a table keeps beside its rows, by project and interval of time. */
export type Rollup = Readonly<ReturnType<typeof createRollup>>;

/** A kind of log: its wire name, its table, and the columns taken from its events. */
export type Source = Readonly<ReturnType<typeof createSource>>;

/** Whether Tailrace creates the source's table, stores events in it and deletes them. */
export function isManaged(source: Source): boolean {
  return source.external === undefined;
}

const RETENTION_DAYS = 90; // the longest tier window of logs.all (spec 4.2)

type LineOf = (...path: string[]) => number;

/** Creates the source that a file defines, which passed `checkSource`. */
export function createSource(file: YamlFile) {
  const value = file.value as ManagedFile | ExternalFile;
  const { id, name, table, description, level, links } = value;
  const [managed, external] = value.managed === false ? [undefined, value] : [value];
  const lineOf: LineOf = (...path) => file.fault(path, '').line;
  const pathsOf = (path: ManagedFile['time']) => (path === undefined ? undefined : toPaths(path));
  const columns: readonly SourceColumn[] = createColumns(value.columns, level?.column);
  return {
    ...{ id: id.toLowerCase(), name, table, description, file: file.file },
    /** Days that events are kept; infinite for an existing table, from which Tailrace deletes nothing. */
    retentionDays:
      managed === undefined ? Number.POSITIVE_INFINITY : (managed.retention_days ?? RETENTION_DAYS),
    /** Paths to the project of an event; the first that holds a text wins. */
    projectPaths: managed === undefined ? [] : withUsualProjects(toPaths(managed.project)),
    /** Paths to the id of an event without the member `id`; the first that exists wins. */
    idPaths: pathsOf(managed?.event_id),
    /** Paths to the text of an event with neither `event_message` nor `message`; the first that exists wins. */
    messagePaths: pathsOf(managed?.message),
    /** Paths to the time of an event without `timestamp`; the first that is a time wins. */
    timePaths: pathsOf(managed?.time),
    /** The events of other protocols that belong here; none if empty. */
    accepts: managed?.accepts && createAccepts(managed.accepts),
    /** What happens to its events before they are stored; nothing if undefined. */
    filter: managed && createEventFilter(managed),
    columns,
    /** The rule for levels of events; without it they have none. */
    level: level && createLevel(level),
    /** Links of values to pages elsewhere, which the console offers; none if undefined. */
    links,
    rollup: managed?.rollup && createRollup(managed.rollup, lineOf),
    /** If given, the source's table is a view of this one: nothing is stored or deleted there. */
    external: external && createExternal(external, lineOf),
    /** Whether only Tailrace itself writes events to it: searches that name no source leave it out. */
    isInternal: managed?.internal === true,
    /**
     * Whether its events cannot be deleted before their retention ends, and only callers that may manage everything can
     * search them.
     */
    isProtected: managed?.protected === true,
  };
}

/** Paths to an event's project, tried in this order after the source's own. */
const PROJECT_PLACES = ['project', 'metadata.project_ref', 'metadata.project'];

function withUsualProjects(own: readonly (readonly string[])[]) {
  const isOwn = (path: readonly string[]) => own.some((one) => one.join('.') === path.join('.'));
  return [...own, ...PROJECT_PLACES.flatMap(toPaths).filter((path) => !isOwn(path))];
}

function createRollup({ every, by = [], values }: NonNullable<ManagedFile['rollup']>, lineOf: LineOf) {
  return {
    /** Length of an interval; a divisor of a day. */
    everySeconds: every,
    /** Typed columns by which an interval is divided further. */
    by,
    /** Aggregates, as queries write them. */
    values: values.map((sql, i) => ({ sql, line: lineOf('rollup', 'values', String(i)) })),
  };
}

function createExternal({ from, map, columns = {} }: ExternalFile, lineOf: LineOf) {
  const express = (name: string, sql: string, ...path: string[]): Expression => {
    return { name, sql, line: lineOf(...path) };
  };
  return {
    /** `undefined`: the database of Tailrace's own tables. */
    database: from.database,
    table: from.table,
    /** The line of `from` in the source's file. */
    line: lineOf('from'),
    /** The expressions of common columns; engine/schema.ts has a default for those left out. */
    common: Object.entries(map).map(([name, sql]) => express(name, sql, 'map', name)),
    /** The expressions of typed columns. */
    typed: Object.entries(columns).map(([name, { expression }]) =>
      express(name, expression, 'columns', name, 'expression'),
    ),
  };
}

/** @param columns those of an existing table have only a type and a description here */
function createColumns(columns: ManagedFile['columns'] = {}, level?: string) {
  return Object.entries(columns).map(([name, { type, path: paths, description, ...fields }]) => {
    const [path = [], ...otherPaths] = paths === undefined ? [] : toPaths(paths);
    const { column, contains, otherwise, index } = fields;
    const text = typeof contains === 'string' ? contains : undefined;
    return {
      ...{ name, type, description },
      /** Member names from the event's root; none if the column is computed. */
      path,
      /** Further paths: the first of all that holds a value of the type counts. */
      otherPaths,
      /** Whether another column contains `text`, or without it the event's project, case-sensitively; never null. */
      contains: column === undefined || contains === undefined ? undefined : { column, text },
      /** If given, the column is never null: without a text at its paths it holds these columns' values, joined. */
      otherwise,
      /** Whether the table has an index for substring searches in the column. */
      hasSubstringIndex: index === 'substrings',
      /** Whether it is the column of the source's level: a number at its paths becomes the name of its level. */
      isLevel: name === level,
    };
  });
}

/** Returns the sources whose tables the SQL names: a query cannot read others. A source too many only costs work. */
export function findSources(sql: string, sources: readonly Source[]): readonly Source[] {
  const named = new Set<string>();
  for (const { kind, text } of parseSql(sql).words) {
    if (kind === 'word') named.add(text);
    if (kind === 'name') named.add(text.slice(1, -1));
    if (kind === 'name' && text.includes('\\')) return sources; // an escape may spell any name
  }
  return sources.filter(({ table }) => named.has(table));
}
