import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findChildren } from '../../trial/server.ts';

/** What the system calls a second of core time; fixed for programs on Linux. */
const TICKS_PER_SECOND = 100;
const MICROS_PER_MS = 1_000;
const NANOS_PER_MS = 1_000_000;

/** The core time of a process's main thread, such as an event loop's, ms; NaN without /proc. */
export function mainThreadMs(pid: number): number {
  return readTicks(`/proc/${pid}/task/${pid}/stat`);
}

/** The core time of all threads of a process so far, ms; NaN without /proc. */
export function processMs(pid: number): number {
  return readTicks(`/proc/${pid}/stat`);
}

/** The core time of a process and of its running children since they started, ms, in steps of 10 ms; NaN without /proc. */
export function treeMs(pid: number): number {
  return sumTicks([pid, ...findChildren(pid)]);
}

/**
 * The core time of every running thread of a process, ms, by the thread's id. Finer than the steps of 10 ms in which the
 * kernel counts whole processes; empty without /proc or if the kernel was built without these counts.
 */
export function readThreads(pid: number): ReadonlyMap<string, number> {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(`/proc/${pid}/schedstat`)) return new Map();
  return new Map(
    readdirSync(folder).flatMap((id) => {
      const ms = readNanos(`${folder}/${id}/schedstat`) / NANOS_PER_MS;
      return Number.isNaN(ms) ? [] : [[id, ms] as const]; // the thread has just ended
    }),
  );
}

/** The core time between two readings, ms, without that of threads that have ended meanwhile; NaN if nothing was read. */
export function threadsMs(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  if (after.size === 0) return Number.NaN;
  return [...after].reduce((sum, [id, ms]) => sum + ms - (before.get(id) ?? 0), 0);
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

function readNanos(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return Number.NaN;
  }
}
