import type { Fault } from '../../errors.ts';
import { toPaths } from '../accepts.ts';
import { createLevel, type LevelFields } from '../level.ts';
import type { ColumnType } from '../source.ts';
import { DAY_SECONDS, isExternalFile, type ManagedFile } from '../source-file.ts';
import type { YamlFile } from '../yaml-file.ts';

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
type Report = (field: keyof ColumnFields[string], message: string) => void;

/**
 * Checks typed columns: none has the name of a common column; each has a path or is computed from another column; only
 * texts have `index` and `otherwise`.
 */
export function checkSourceColumns(file: YamlFile): Fault[] {
  const { columns = {} } = file.value as ManagedFile; // readDefinitions has called checkSourceShape
  return Object.keys(columns).flatMap((name) => {
    const faults: Fault[] = [];
    const taken = `column "${name}" is already a column of every source; take another name`;
    if (COMMON_COLUMNS.some((common) => common === name)) faults.push(file.fault(['columns', name], taken));
    const report: Report = (field, message) => faults.push(file.fault(['columns', name, field], message));
    if (!isExternalFile(file)) checkOrigin(columns, name, report);
    checkText(columns, name, report);
    return faults;
  });
}

function checkOrigin(columns: ColumnFields, name: string, report: Report): void {
  const { type, path, column, contains } = columns[name] ?? {};
  if (column === undefined && contains === undefined) {
    if (path === undefined) report('path', `"${name}" needs "path", or "column" and "contains"`);
    else checkPaths(name, toPaths(path), report);
    return;
  }
  if (path !== undefined) report('path', `"${name}" has "path", or "column" and "contains", but not both`);
  if (column === undefined) report('column', `"contains" of "${name}" needs "column", the column to search`);
  if (contains === undefined) report('contains', `"column" of "${name}" needs "contains", the text to find`);
  if (typeof contains === 'object' && contains.column !== 'project')
    report('contains', `"contains" of "${name}" must be a string or { column: project }`);
  if (type !== 'boolean') report('type', `"contains" of "${name}" needs type boolean, not ${type}`);
  if (column === undefined) return;
  if (MISREAD.includes(column))
    report('column', `"column" of "${name}" cannot name "${column}", which is a word of SQL`);
  else if (!isText(columns, column))
    report(
      'column',
      `"column" of "${name}" must name a column of texts in this file, not ${JSON.stringify(column)}`,
    );
}

function checkPaths(name: string, paths: readonly (readonly string[])[], report: Report): void {
  if (paths.length > PATHS_MAX)
    report('path', `"path" of "${name}" must be at most ${PATHS_MAX} paths, not ${paths.length}`);
  const texts = paths.map((path) => JSON.stringify(path));
  const again = paths.find((_, i) => texts.indexOf(texts[i] ?? '') < i);
  if (again !== undefined) report('path', `"path" of "${name}" names ${again.join('.')} twice`);
}

function checkText(columns: ColumnFields, name: string, report: Report): void {
  const { type, otherwise, index } = columns[name] ?? {};
  const needless = (['otherwise', 'index'] as const).find((field) => columns[name]?.[field] !== undefined);
  if (needless !== undefined && type !== 'string')
    report(needless, `"${needless}" of "${name}" needs type string, not ${type}`);
  if (index !== undefined && otherwise === undefined)
    report(
      'index',
      `"index" of "${name}" needs "otherwise", since texts that may be null have no index; [] makes them empty`,
    );
  if (index !== undefined && MISREAD.includes(name))
    report('index', `"${name}" is a word of SQL that no index can name; take another name`);
  for (const other of otherwise ?? []) {
    if (MISREAD.includes(other))
      report('otherwise', `"otherwise" of "${name}" cannot name "${other}", which is a word of SQL`);
    else if (!mayStandIn(columns, other))
      report(
        'otherwise',
        `"otherwise" of "${name}" must name project or columns of texts that have no "otherwise", ` +
          `not ${JSON.stringify(other)}`,
      );
  }
}

/** Only columns without `otherwise`, so that the order of columns does not matter. */
function mayStandIn(columns: ColumnFields, name: string): boolean {
  return name === 'project' || (isText(columns, name) && columns[name]?.otherwise === undefined);
}

function isText(columns: ColumnFields, name: string): boolean {
  const type = Object.hasOwn(columns, name) ? columns[name]?.type : undefined;
  return type === 'string' || type === 'keyword';
}

/** Checks that no interval spans two days, since each day is a partition, and that `by` names columns of the file. */
export function checkRollup(file: YamlFile): Fault[] {
  const { rollup, columns = {} } = file.value as ManagedFile; // readDefinitions has called checkSourceShape
  if (rollup === undefined) return [];
  const { every, by = [] } = rollup;
  const faults: Fault[] = [];
  if (DAY_SECONDS % every !== 0)
    faults.push(
      file.fault(
        ['rollup', 'every'],
        `"every" must divide a day of ${DAY_SECONDS} seconds, as 300 and 3600 do, not ${every}`,
      ),
    );
  for (const [index, name] of by.entries()) {
    const fault = (message: string) => faults.push(file.fault(['rollup', 'by', String(index)], message));
    if (!Object.hasOwn(columns, name))
      fault(`"by" must name columns of this file, not ${JSON.stringify(name)}`);
    else if (MISREAD.includes(name)) fault(`"by" cannot name "${name}", which is a word of SQL`);
  }
  return faults;
}

interface Columns {
  readonly level?: LevelFields;
  readonly columns?: Readonly<Record<string, { readonly type: ColumnType }>>;
}

/** Checks that `level` names columns of the file with the right types, and that its statuses are in order. */
export function checkLevel(file: YamlFile): Fault[] {
  const { level, columns = {} } = file.value as Columns; // readDefinitions has called checkSourceShape
  if (level === undefined) return [];
  const faults: Fault[] = [];
  const report = (field: keyof LevelFields, message: string) =>
    faults.push(file.fault(['level', field], `"${field}" of "level" ${message}`));
  const typeOf = (name: string) => (Object.hasOwn(columns, name) ? columns[name]?.type : undefined);
  const { column, status, warnFrom, errorFrom } = createLevel(level);
  if (column === undefined && status === undefined) {
    const message = '"level" needs "column", a column of texts, or "status", a column of integers';
    return [file.fault(['level'], message)];
  }
  if (column !== undefined && !['string', 'keyword'].includes(typeOf(column) ?? ''))
    report('column', `must name a column of texts in this file, not ${JSON.stringify(column)}`);
  if (status !== undefined && typeOf(status) !== 'integer')
    report('status', `must name a column of type integer in this file, not ${JSON.stringify(status)}`);
  for (const field of ['warn_from', 'error_from'] as const)
    if (level[field] !== undefined && status === undefined)
      report(field, 'needs "status", the column with the HTTP status');
  if (warnFrom > errorFrom) report('warn_from', `must be at most "error_from", which is ${errorFrom}`);
  return faults;
}
