import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** The columns that every source's table has, whatever its file says. */
export const COMMON_COLUMNS = [
  'id',
  'timestamp',
  'project',
  'event_message',
  'metadata',
  'attributes',
] as const;

/** A typed column does not take the name of a column that every table has. */
export function checkSourceColumns(file: YamlFile): Fault[] {
  const { columns } = file.value as { columns?: Record<string, unknown> };
  return Object.keys(columns ?? {})
    .filter((name) => COMMON_COLUMNS.some((common) => common === name))
    .map((name) =>
      file.fault(
        ['columns', name],
        `column "${name}" is already a column of every source; take another name`,
      ),
    );
}
