import { existsSync, readFileSync } from 'node:fs';

const STATUS = '/proc/self/status';

/** The ids of the CPUs that this process may use; none if the system does not say. */
export function findCpus(): number[] {
  if (!existsSync(STATUS)) return [];
  const [, list = ''] = /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync(STATUS, 'utf8')) ?? [];
  return parseCpuList(list);
}

/** Parses `0-2,5`. */
export function parseCpuList(list: string): number[] {
  return list
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

/** 1, 2, 4 and so on, up to the CPUs that there are and 16. */
export function coreCounts(cpus: number): number[] {
  return [1, 2, 4, 8, 16].filter((count) => count <= cpus);
}
