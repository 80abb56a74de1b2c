import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { findChildren } from '../trial/server.ts';
import { Unmeasured } from './report.ts';

/** What the system calls a second of core time; fixed for programs on Linux. */
const TICKS_PER_SECOND = 100;
const NANOS_PER_MS = 1_000_000;

/** The core time of a process's main thread, such as an event loop's, ms; NaN without /proc. */
export function mainThreadMs(pid: number): number {
  return readTicks(`/proc/${pid}/task/${pid}/stat`);
}

/** The core time of a process and of its running children since they started, ms, in steps of 10 ms; NaN without /proc. */
export function treeMs(pid: number): number {
  return [pid, ...findChildren(pid)].reduce((sum, one) => sum + readTicks(`/proc/${one}/stat`), 0);
}

function readTicks(file: string): number {
  if (!existsSync(file)) return Number.NaN;
  // The name in brackets may have spaces; the times in user and kernel mode are the 14th and 15th field.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** The core time of a service, ms: of its own process, and of the engine's. */
interface ServiceCost {
  readonly serviceMs: number;
  readonly engineMs: number;
}

/**
 * The core time of a running service and of its engine while `work` runs, counted by thread, which is finer than the steps of 10 ms in which
 * the kernel counts whole processes. Threads that end meanwhile are missing.
 *
 * @throws Unmeasured if the system does not count it
 */
export async function takeService(pid: number, work: () => Promise<unknown>): Promise<ServiceCost> {
  const threads = await takeThreads(pid, work);
  const sum = (part: string) =>
    threads.filter(({ process }) => process === part).reduce((total, { ms }) => total + ms, 0);
  return { serviceMs: sum('service'), engineMs: sum('engine') };
}

/** The core time of the threads of one name. */
export interface ThreadCost {
  readonly process: 'service' | 'engine';
  /** As the system knows it; `main` for the first one. */
  readonly name: string;
  readonly ms: number;
}

/** As `takeService`, by thread; threads of the same name are added up. @throws Unmeasured as `takeService` */
export async function takeThreads(pid: number, work: () => Promise<unknown>): Promise<readonly ThreadCost[]> {
  const pids = [pid, ...findChildren(pid)];
  const before = pids.map(readThreads);
  await work();
  const costs = new Map<string, ThreadCost>();
  for (const [i, one] of pids.entries())
    for (const [id, { name, ms }] of readThreads(one)) {
      const process = i === 0 ? 'service' : 'engine';
      const key = `${process} ${name}`;
      const sum = (costs.get(key)?.ms ?? 0) + ms - (before[i]?.get(id)?.ms ?? 0);
      costs.set(key, { process, name, ms: sum });
    }
  if (costs.size === 0)
    throw new Unmeasured('the system does not count core time by thread (/proc/<pid>/schedstat)');
  return [...costs.values()];
}

/** The core time of every running thread of a process, ms, by the thread's id; empty if the system does not count it. */
function readThreads(pid: number): ReadonlyMap<string, { name: string; ms: number }> {
  if (!existsSync(`/proc/${pid}/schedstat`)) return new Map();
  return new Map(
    readdirSync(`/proc/${pid}/task`).flatMap((id) => {
      try {
        const [nanos] = readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ');
        const name =
          id === String(pid) ? 'main' : readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim();
        return [[id, { name, ms: Number(nanos) / NANOS_PER_MS }] as const];
      } catch {
        return []; // the thread has just ended
      }
    }),
  );
}

const POLL_EVERY_MS = 250;
/** The share of a core that an engine without work takes. */
const IDLE_SHARE = 0.05;
const SETTLE_MS_MAX = 10_000;

/** Waits until the engine has done what it does after its answers, such as merges; 10 s at most. */
export async function settle(pid: number): Promise<void> {
  const endMs = performance.now() + SETTLE_MS_MAX;
  while (performance.now() < endMs) {
    const { engineMs } = await takeService(pid, () => wait(POLL_EVERY_MS));
    if (engineMs < POLL_EVERY_MS * IDLE_SHARE) return;
  }
}
