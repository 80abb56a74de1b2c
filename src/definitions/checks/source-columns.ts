import type { Fault } from '../fault.ts';
import type { ManagedFile } from '../source-file.ts';
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

/** Names that the engine writes into a table's definition without quotes: after a restart they mean something else, or loading fails. */
export const MISREAD = ['false', 'inf', 'infinity', 'nan', 'not', 'top', 'true'];

type ColumnFields = NonNullable<ManagedFile['columns']>;
type Report = (field: 'otherwise' | 'index', message: string) => void;

/** No typed column has the name of a common column; only texts have `index` and `otherwise`. */
export function checkSourceColumns(file: YamlFile): Fault[] {
  const { columns = {} } = file.value as ManagedFile; // readDefinitions has called checkSourceShape
  return Object.keys(columns).flatMap((name) => {
    const faults: Fault[] = [];
    const taken = `column "${name}" is already a column of every source; take another name`;
    if (COMMON_COLUMNS.some((common) => common === name)) faults.push(file.fault(['columns', name], taken));
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

/** Only columns without `otherwise`, so that the order of columns does not matter. */
function mayStandIn(columns: ColumnFields, name: string): boolean {
  if (name === 'project') return true;
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
  return (column?.type === 'string' || column?.type === 'keyword') && column.otherwise === undefined;
}
