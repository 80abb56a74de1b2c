import type { Fault } from '../fault.ts';
import { createLevel, type LevelFields } from '../level.ts';
import type { ColumnType } from '../source.ts';
import type { YamlFile } from '../yaml-file.ts';

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
