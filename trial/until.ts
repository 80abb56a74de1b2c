import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Repeats `work` until it does not fail: `vi.waitFor` without Vitest, which the benchmark does not load.
 *
 * @throws the last failure, if `timeoutMs` has passed
 */
export async function until<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await wait(PAUSE_MS);
  }
}
