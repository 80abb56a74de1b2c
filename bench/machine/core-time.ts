import { existsSync, readFileSync } from 'node:fs';
import { findChildren } from '../../trial/server.ts';

/** What the system calls a second of core time; fixed for programs on Linux. */
const TICKS_PER_SECOND = 100;
const MICROS_PER_MS = 1_000;

/** The core time of a process's main thread, such as an event loop's, ms; NaN without /proc. */
export function mainThreadMs(pid: number): number {
  return readTicks(`/proc/${pid}/task/${pid}/stat`);
}

/** The core time of all threads of a process so far, ms; NaN without /proc. */
export function processMs(pid: number): number {
  return readTicks(`/proc/${pid}/stat`);
}

/**
 * The result of `work` and its core time in this process and in its children, such as the engine, ms. That of the
 * children is counted in steps of 10 ms, and missing without /proc.
 */
export async function takeCores<T>(work: () => Promise<T>): Promise<{ result: T; coreMs: number }> {
  const children = findChildren(process.pid);
  const before = process.cpuUsage();
  const childrenBefore = sumTicks(children);
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, coreMs: (user + system) / MICROS_PER_MS + sumTicks(children) - childrenBefore };
}

function sumTicks(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + processMs(pid), 0);
}

function readTicks(file: string): number {
  if (!existsSync(file)) return Number.NaN;
  // The name in brackets may have spaces; the times in user and kernel mode are the 14th and 15th field.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
