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

/** What the system calls a second of core time; fixed for programs on Linux. */
const TICKS_PER_SECOND = 100;

/** The core time of a process's main thread, such as an event loop's, ms; NaN without /proc. */
export function mainThreadMs(pid: number): number {
  const file = `/proc/${pid}/task/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  // The name in brackets may have spaces; the times in user and kernel mode are the 14th and 15th field.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
