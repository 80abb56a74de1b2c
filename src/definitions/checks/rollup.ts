import type { Fault } from '../fault.ts';
import { DAY_SECONDS, type ManagedFile } from '../source-file.ts';
import type { YamlFile } from '../yaml-file.ts';
import { MISREAD } from './source-columns.ts';

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
