import type { Source } from '../../definitions/source.ts';
import { MICROS_PER_DAY, MICROS_PER_MINUTE, MICROS_PER_SECOND, type Micros } from '../../lib/instant.ts';
import type { SearchScope } from '../arms.ts';
import { type FindParameter, listMembers, writeConditions } from './condition.ts';
import { createNames, type Names, quoteName } from './names.ts';
import type { DraftShape } from './shape.ts';

export interface DraftQuery {
  readonly scope: SearchScope;
  readonly shape: DraftShape;
  readonly find: FindParameter;
  /** Length of the range that ends now. */
  readonly length: Micros;
}

/** Writes the table of a source, under the name of the table. */
type WriteTable = (source: Source) => string;

const ownTable: WriteTable = ({ table }) => quoteName(table);

/** Writes query.sql. @param writeTable default: the sources' own tables */
export function writeQuery(query: DraftQuery, writeTable = ownTable): string {
  const { shape, length } = query;
  const arms = query.scope.sources.map((source) => writeArm(query, source, writeTable));
  const searched = arms.filter(({ isEmpty }) => !isEmpty);
  const shown = searched.length > 0 ? searched : arms.slice(0, 1);
  const union = shown.map(({ sql }) => sql).join('\n    UNION ALL\n');
  const members = [
    "toDateTime64(if(@until = '', @now, @until), 6, 'UTC') AS range_until",
    `ifNull(toDateTime64OrNull(@from, 6, 'UTC'), range_until - ${writeInterval(length)}) AS range_from`,
    ...listMembers(union),
    `events AS (\n${union}\n  )`,
    ...(shape.members ?? []),
  ];
  return `WITH\n  ${members.join(',\n  ')}\n${shape.select}\n`;
}

/** Returns the paths that the query reads of a source's events. */
export function findRead(query: DraftQuery, source: Source): ReadonlySet<string> {
  return writeArm(query, source, ownTable).read;
}

function writeArm({ scope, shape, find }: DraftQuery, source: Source, writeTable: WriteTable) {
  const names = createNames(source, findAliases(shape, source));
  const items = shape.items.map(({ name, write }) => {
    const sql = write(names);
    return sql === name ? name : `${sql} AS ${name}`;
  });
  const time = names.column('timestamp');
  const project = names.column('project');
  const searched = scope.tree === undefined ? [] : writeConditions(scope.tree, names, find);
  const conditions = [
    `${time} >= range_from AND ${time} < range_until`,
    scope.hasProject ? `${project} = @project` : `(@project = '' OR ${project} = @project)`,
    ...searched,
  ];
  const sql = `    SELECT ${items.length === 0 ? '1 AS event' : items.join(', ')}
    FROM ${writeTable(source)}
    WHERE ${conditions.join('\n      AND ')}`;
  return { sql, isEmpty: searched[0] === 'false', read: names.read };
}

/** The names of results that are not the column of this name. */
function findAliases({ items }: DraftShape, source: Source): ReadonlySet<string> {
  const plain: Names = createNames(source, new Set());
  return new Set(items.filter(({ name, write }) => write(plain) !== name).map(({ name }) => name));
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
