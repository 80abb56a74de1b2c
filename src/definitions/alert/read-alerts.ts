import { type Alert, checkAlert, createAlert } from '../alert.ts';
import type { Fault } from '../fault.ts';
import { checkUnique, readYamlFolder } from '../read-folder.ts';

/** Reads the alerts of a folder. Adds every fault that needs neither endpoints nor receivers. @param dir `undefined`: there are none */
export async function readAlerts(dir: string | undefined, faults: Fault[]): Promise<Alert[]> {
  if (dir === undefined) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = checkAlert(file);
    faults.push(...own);
    return own.length === 0 ? [createAlert(file)] : [];
  });
}
