import type { Fault } from '../fault.ts';
import type { ManagedFile } from '../source-file.ts';
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

/**
 * Words that the engine writes back without quotes where they name a column, and then reads as something else: a table with an
 * expression or an index of such a column means another thing after a restart, or cannot be loaded at all.
 */
const MISREAD = ['false', 'inf', 'infinity', 'nan', 'not', 'top', 'true'];

type ColumnFields = NonNullable<ManagedFile['columns']>;
type Report = (field: 'otherwise' | 'index', message: string) => void;

/** A typed column does not take the name of a column that every table has; only texts have an index or others to stand in. */
export function checkSourceColumns(file: YamlFile): Fault[] {
  const { columns = {} } = file.value as ManagedFile; // proven by checkSourceShape, which runs before
  return Object.keys(columns).flatMap((name) => {
    const faults: Fault[] = [];
    if (COMMON_COLUMNS.some((common) => common === name))
      faults.push(
        file.fault(
          ['columns', name],
          `column "${name}" is already a column of every source; take another name`,
        ),
      );
    checkText(columns, name, (field, message) => faults.push(file.fault(['columns', name, field], message)));
    return faults;
  });
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
        `"otherwise" of "${name}" must name project or columns of texts without "otherwise" of their own, not ${JSON.stringify(other)}`,
      );
  }
}

/** Only what needs no other column itself, so that the order of columns does not matter. */
function mayStandIn(columns: ColumnFields, name: string): boolean {
  if (name === 'project') return true;
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  return (column?.type === 'string' || column?.type === 'keyword') && column.otherwise === undefined;
}
