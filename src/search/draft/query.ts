import type { ChartFields } from '../../definitions/chart.ts';
import type { ResultColumn } from '../../definitions/endpoint.ts';
import type { Source, SourceColumn } from '../../definitions/source.ts';
import { MICROS_PER_DAY, MICROS_PER_MINUTE, MICROS_PER_SECOND, type Micros } from '../../lib/instant.ts';
import { writeValue } from '../../sql/sql.ts';
import { LEVEL_NAMES, writeDecimal, writeDouble, writeForm, writeLevel } from '../comparison.ts';
import { NEVER, writeConditions } from '../condition.ts';
import { createOperand, type Fields, writeMetadata } from '../field.ts';
import type { PartRequest } from '../part.ts';

/** What a draft returns of the events, and how. */
export interface DraftShape {
  /** The end of a name, such as `p95-of-duration-by-path`. */
  readonly title: string;
  readonly description: string;
  /** Results of the SELECTs of the sources, together called `events`; each writes SQL of the same type for every source. */
  readonly items: Readonly<Record<string, (fields: Fields) => string>>;
  /** Members of WITH after `events`. */
  readonly members?: readonly string[];
  /** The last SELECT. */
  readonly select: string;
  readonly columns: readonly ResultColumn[];
  readonly maxRows: number;
  readonly chart: ChartFields;
  /** Default of `@step`, seconds; `undefined`: the rows have no time buckets. */
  readonly stepSeconds?: number;
  /** Whether its numbers depend on the order in which the engine adds. */
  readonly isRounded?: boolean;
}

/** A search, and how a draft returns what it finds in a range that ends now. */
export interface DraftQuery extends PartRequest {
  readonly shape: DraftShape;
  readonly findParameter: NonNullable<Fields['findParameter']>;
}

/** Writes the table of a source, under the name of the table. */
const ownTable = ({ table }: Source) => quoteName(table);

/** Members of WITH for numbers in texts and in JSON, each with its comment; a query has those that it names. */
const MEMBERS: Readonly<Record<string, string>> = {
  to_number: `-- The number that a text is, as JSON writes numbers; NULL for any other text.
  text -> ${writeDouble(writeForm('text'))} AS to_number`,
  to_exact: `-- The same as a decimal; NULL for 0, since a smaller number may have become it.
  text -> ${writeDecimal(writeForm('text'))} AS to_exact`,
};

/** Writes query.sql. @param writeTable default: the sources' own tables */
export function writeQuery(query: DraftQuery, writeTable = ownTable): string {
  const { shape, scope } = query;
  const { from, until } = scope.range;
  const arms = scope.sources.map((source) => writeArm(query, source, writeTable));
  const searched = arms.filter(({ isEmpty }) => !isEmpty);
  const shown = searched.length > 0 ? searched : arms.slice(0, 1);
  const union = shown.map(({ sql }) => sql).join('\n    UNION ALL\n');
  const members = [
    "toDateTime64(if(@until = '', @now, @until), 6, 'UTC') AS range_until",
    `ifNull(toDateTime64OrNull(@from, 6, 'UTC'), range_until - ${writeInterval(until - from)}) AS range_from`,
    ...Object.keys(MEMBERS).flatMap((name) => (union.includes(`${name}(`) ? (MEMBERS[name] ?? []) : [])),
    `events AS (\n${union}\n  )`,
    ...(shape.members ?? []),
  ];
  return `WITH\n  ${members.join(',\n  ')}\n${shape.select}\n`;
}

/** Returns the paths, from the root of an event, that the query reads of a source's events. */
export function findRead(query: DraftQuery, source: Source): readonly (readonly string[])[] {
  return writeArm(query, source, ownTable).read;
}

function writeArm(query: DraftQuery, source: Source, writeTable: typeof ownTable) {
  const { scope, shape } = query;
  const fields = createFields(query, source);
  const items = Object.entries(shape.items).map(([name, write]) => {
    const sql = write(fields);
    return sql === name ? name : `${sql} AS ${name}`;
  });
  const [time, project] = [fields.column('timestamp'), fields.column('project')];
  const searched = writeConditions(scope.tree, fields);
  const conditions = [
    `${time} >= range_from AND ${time} < range_until`,
    scope.project !== '' ? `${project} = @project` : `(@project = '' OR ${project} = @project)`,
    ...searched,
  ];
  const sql = `    SELECT ${items.join(', ')}
    FROM ${writeTable(source)}
    WHERE ${conditions.join('\n      AND ')}`;
  return { sql, isEmpty: searched.includes(NEVER), read: fields.read };
}

/**
 * @param aliases names of the SELECT's results: columns with these names are written with their table, since the engine
 *   would read the results. Default: those that are not the column of this name
 */
function createFields(query: DraftQuery, source: Source, aliases = findAliases(query, source)) {
  const read: (readonly string[])[] = [];
  function write(name: string): string {
    const quoted = quoteName(name);
    return aliases.has(name) ? `${quoteName(source.table)}.${quoted}` : quoted;
  }
  const json = writeMetadata(write('metadata'), write('attributes'));
  function column(name: string): string {
    read.push(...listPaths(source, name));
    return name === 'metadata' ? json : write(name);
  }
  const writers = {
    column,
    extract(path: readonly string[]) {
      read.push(['metadata', ...path], path);
      return `JSONExtract(${[json, ...path.map(writeValue)].join(', ')}, 'Nullable(String)')`;
    },
    level: () => writeLevel(source.level, column, LEVEL_NAMES),
    levelForm: LEVEL_NAMES,
  };
  const fields: Fields = {
    find: (field) => createOperand(source, field, writers),
    column,
    number: (text) => ({ exact: `to_exact(${text})`, double: `to_number(${text})` }),
    // A saved query gets its guards when it runs.
    like: writeValue,
    match: writeValue,
    findParameter: query.findParameter,
  };
  return { ...fields, read };
}

function findAliases(query: DraftQuery, source: Source): ReadonlySet<string> {
  const plain = createFields(query, source, new Set());
  const items = Object.entries(query.shape.items).filter(([name, write]) => write(plain) !== name);
  return new Set(items.map(([name]) => name));
}

/** Lists what an event needs to have so that a column has its value. */
function listPaths(source: Source, name: string): (readonly string[])[] {
  if (name === 'event_message' || name === 'metadata') return [[name]];
  const typed = source.columns.find((one) => one.name === name);
  if (typed === undefined) return [];
  const others = [typed.contains?.column, ...(typed.otherwise ?? [])].filter((one) => one !== undefined);
  return [...pathsOf(typed), ...others.flatMap((other) => (other === name ? [] : listPaths(source, other)))];
}

const pathsOf = ({ path, otherPaths }: SourceColumn) => [path, ...otherPaths].filter((one) => one.length > 0);

// Names of columns have only small letters, digits and _; these mean something else in SQL.
export const WORDS: ReadonlySet<string> = new Set(
  (
    'all and any array as asc between by case cast desc distinct div else end escape except ' +
    'exists extract false final from full ' +
    'global group having ilike in inf inner intersect interval into is join left like limit mod nan not ' +
    'null offset on or order outer ' +
    'prewhere qualify right sample select settings table then true union using values when where window with'
  ).split(' '),
);

/** Writes the name of a column or a table. */
function quoteName(name: string): string {
  return WORDS.has(name) ? `\`${name}\`` : name;
}

const UNITS: readonly (readonly [unit: string, micros: Micros])[] = [
  ['DAY', MICROS_PER_DAY],
  ['HOUR', 60 * MICROS_PER_MINUTE],
  ['MINUTE', MICROS_PER_MINUTE],
  ['SECOND', MICROS_PER_SECOND],
  ['MICROSECOND', 1],
];

function writeInterval(length: Micros): string {
  const [unit, micros] = UNITS.find((one) => length % one[1] === 0) ?? ['MICROSECOND', 1];
  return `INTERVAL ${length / micros} ${unit}`;
}
