import { setTimeout as wait } from 'node:timers/promises';
import { findChildren } from '../../trial/server.ts';
import { readThreads, threadsMs } from '../machine/core-time.ts';
import { Unmeasured } from '../report.ts';

/** The core time of a service, ms. */
export interface FamilyCost {
  /** Of its own process. */
  readonly serviceMs: number;
  /** Of the engine's process. */
  readonly engineMs: number;
}

const POLL_EVERY_MS = 250;
/** Of a core: what an engine without work takes. */
const IDLE_SHARE = 0.05;
const SETTLE_MS_MAX = 10_000;

/**
 * The core time of a running service and of its engine while `work` runs.
 *
 * @throws Unmeasured if the system does not count it
 */
export async function takeFamily(pid: number, work: () => Promise<unknown>): Promise<FamilyCost> {
  const engines = findChildren(pid);
  const before = [pid, ...engines].map(readThreads);
  await work();
  const [serviceMs = Number.NaN, ...engineMs] = [pid, ...engines].map((one, i) =>
    threadsMs(before[i] ?? new Map(), readThreads(one)),
  );
  if (Number.isNaN(serviceMs))
    throw new Unmeasured('the system does not count core time by thread (/proc/<pid>/schedstat)');
  return { serviceMs, engineMs: engineMs.reduce((sum, ms) => sum + ms, 0) };
}

/** Waits until the engine has done what it does after its answers, such as merges; 10 s at most. */
export async function settle(pid: number): Promise<void> {
  const endMs = performance.now() + SETTLE_MS_MAX;
  while (performance.now() < endMs) {
    const { engineMs } = await takeFamily(pid, () => wait(POLL_EVERY_MS));
    if (engineMs < POLL_EVERY_MS * IDLE_SHARE) return;
  }
}
