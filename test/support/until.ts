import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Does something again until it does not fail. For what the benchmark uses, too, where Vitest is not there.
 *
 * @throws the last failure, when the time is over
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
