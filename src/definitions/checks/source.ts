import type { Fault } from '../../errors.ts';
import { toPaths } from '../accepts.ts';
import { createLevel, type LevelFields } from '../level.ts';
import { createShapeCheck } from '../shape.ts';
import type { ColumnType } from '../source.ts';
import { DAY_SECONDS, EXTERNAL_FILE, MANAGED_FILE, type ManagedFile } from '../source-file.ts';
import { type FieldFaults, toFaults, type YamlFile } from '../yaml-file.ts';

/** The columns of every source's table. */
export const COMMON_COLUMNS = [
  'id',
  'timestamp',
  'project',
  'event_message',
  'metadata',
  'attributes',
] as const;

/**
 * Names that the engine writes into a table's definition without quotes: after a restart they mean something else, or
 * loading fails.
 */
export const MISREAD = ['false', 'inf', 'infinity', 'nan', 'not', 'top', 'true'];

// Each is searched for in the JSON of every event, and of older rows.
const PATHS_MAX = 10;

type ColumnFields = NonNullable<ManagedFile['columns']>;
type ColumnFault = readonly [field: keyof ColumnFields[string], message: string];

const checkManagedShape = createShapeCheck(MANAGED_FILE);
const checkExternalShape = createShapeCheck(EXTERNAL_FILE);

/** Finds the faults of a source's file: unknown, missing or wrong fields, or else those between fields. */
export function checkSource(file: YamlFile): Fault[] {
  const isExternal = (file.value as { managed?: unknown } | null)?.managed === false;
  const shape = isExternal ? checkExternalShape(file) : checkManagedShape(file);
  if (shape.length > 0) return shape;
  const fields = file.value as ManagedFile; // of an external one, only fields that both have are read
  return toFaults(file, [
    ...findColumnFaults(fields, isExternal),
    ...findLevelFaults(fields),
    ...findRollupFaults(fields),
  ]);
}

/**
 * Checks typed columns: none has the name of a common column; each has a path or is computed from another column; only
 * texts have `index` and `otherwise`.
 */
function* findColumnFaults({ columns = {} }: ManagedFile, isExternal: boolean): FieldFaults {
  for (const name of Object.keys(columns)) {
    if (COMMON_COLUMNS.some((common) => common === name))
      yield [['columns', name], `column "${name}" is already a column of every source; take another name`];
    const faults = [...(isExternal ? [] : findOriginFaults(columns, name)), ...findTextFaults(columns, name)];
    for (const [field, message] of faults) yield [['columns', name, field], message];
  }
}

function* findOriginFaults(columns: ColumnFields, name: string): Generator<ColumnFault> {
  const { type, path, column, contains } = columns[name] ?? {};
  if (column === undefined && contains === undefined) {
    if (path === undefined) yield ['path', `"${name}" needs "path", or "column" and "contains"`];
    else yield* findPathFaults(name, toPaths(path));
    return;
  }
  if (path !== undefined) yield ['path', `"${name}" has "path", or "column" and "contains", but not both`];
  if (column === undefined) yield ['column', `"contains" of "${name}" needs "column", the column to search`];
  if (contains === undefined) yield ['contains', `"column" of "${name}" needs "contains", the text to find`];
  if (typeof contains === 'object' && contains.column !== 'project')
    yield ['contains', `"contains" of "${name}" must be a string or { column: project }`];
  if (type !== 'boolean') yield ['type', `"contains" of "${name}" needs type boolean, not ${type}`];
  if (column === undefined) return;
  if (MISREAD.includes(column))
    yield ['column', `"column" of "${name}" cannot name "${column}", which is a word of SQL`];
  else if (!isText(columns, column))
    yield [
      'column',
      `"column" of "${name}" must name a column of texts in this file, not ${JSON.stringify(column)}`,
    ];
}

function* findPathFaults(name: string, paths: readonly (readonly string[])[]): Generator<ColumnFault> {
  if (paths.length > PATHS_MAX)
    yield ['path', `"path" of "${name}" must be at most ${PATHS_MAX} paths, not ${paths.length}`];
  const texts = paths.map((path) => JSON.stringify(path));
  const again = paths.find((_, i) => texts.indexOf(texts[i] ?? '') < i);
  if (again !== undefined) yield ['path', `"path" of "${name}" names ${again.join('.')} twice`];
}

function* findTextFaults(columns: ColumnFields, name: string): Generator<ColumnFault> {
  const { type, otherwise, index } = columns[name] ?? {};
  const needless = (['otherwise', 'index'] as const).find((field) => columns[name]?.[field] !== undefined);
  if (needless !== undefined && type !== 'string')
    yield [needless, `"${needless}" of "${name}" needs type string, not ${type}`];
  if (index !== undefined && otherwise === undefined)
    yield [
      'index',
      `"index" of "${name}" needs "otherwise", since texts that may be null have no index; [] makes them empty`,
    ];
  if (index !== undefined && MISREAD.includes(name))
    yield ['index', `"${name}" is a word of SQL that no index can name; take another name`];
  for (const other of otherwise ?? []) {
    const message = MISREAD.includes(other)
      ? `cannot name "${other}", which is a word of SQL`
      : !mayStandIn(columns, other) &&
        `must name project or columns of texts that have no "otherwise", not ${JSON.stringify(other)}`;
    if (message) yield ['otherwise', `"otherwise" of "${name}" ${message}`];
  }
}

/** Only columns without `otherwise`, so that the order of columns does not matter. */
function mayStandIn(columns: ColumnFields, name: string): boolean {
  return name === 'project' || (isText(columns, name) && columns[name]?.otherwise === undefined);
}

function isText(columns: ColumnFields, name: string): boolean {
  return ['string', 'keyword'].includes(typeIn(columns, name) ?? '');
}

function typeIn(columns: ColumnFields, name: string): ColumnType | undefined {
  return Object.hasOwn(columns, name) ? columns[name]?.type : undefined;
}

/** Checks that no interval spans two days, since each day is a partition, and that `by` names columns of the file. */
function* findRollupFaults({ rollup, columns = {} }: ManagedFile): FieldFaults {
  if (rollup === undefined) return;
  const { every, by = [] } = rollup;
  if (DAY_SECONDS % every !== 0)
    yield [
      ['rollup', 'every'],
      `"every" must divide a day of ${DAY_SECONDS} seconds, as 300 and 3600 do, not ${every}`,
    ];
  for (const [index, name] of by.entries()) {
    if (!Object.hasOwn(columns, name))
      yield [['rollup', 'by', index], `"by" must name columns of this file, not ${JSON.stringify(name)}`];
    else if (MISREAD.includes(name))
      yield [['rollup', 'by', index], `"by" cannot name "${name}", which is a word of SQL`];
  }
}

/** Checks that `level` names columns of the file with the right types, and that its statuses are in order. */
function* findLevelFaults({ level, columns = {} }: ManagedFile): FieldFaults {
  if (level === undefined) return;
  const fault = (field: keyof LevelFields, message: string) =>
    [['level', field], `"${field}" of "level" ${message}`] as const;
  const { column, status, warnFrom, errorFrom } = createLevel(level);
  if (column === undefined && status === undefined) {
    yield [['level'], '"level" needs "column", a column of texts, or "status", a column of integers'];
    return;
  }
  if (column !== undefined && !isText(columns, column))
    yield fault('column', `must name a column of texts in this file, not ${JSON.stringify(column)}`);
  if (status !== undefined && typeIn(columns, status) !== 'integer')
    yield fault('status', `must name a column of type integer in this file, not ${JSON.stringify(status)}`);
  for (const field of ['warn_from', 'error_from'] as const)
    if (level[field] !== undefined && status === undefined)
      yield fault(field, 'needs "status", the column with the HTTP status');
  if (warnFrom > errorFrom) yield fault('warn_from', `must be at most "error_from", which is ${errorFrom}`);
}
