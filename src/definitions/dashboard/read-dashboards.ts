import type { Fault } from '../fault.ts';
import { checkUnique, readYamlFolder } from '../read-folder.ts';
import { checkDashboard, createDashboard, type Dashboard } from './dashboard.ts';

/** Reads the dashboards of a folder. Adds every fault that does not need endpoints. @param dir `undefined`: there are none */
export async function readDashboards(dir: string | undefined, faults: Fault[]): Promise<Dashboard[]> {
  if (dir === undefined) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = checkDashboard(file);
    faults.push(...own);
    return own.length === 0 ? [createDashboard(file)] : [];
  });
}
