import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertView } from '../../src/management/alert-view.ts';
import { startAlertingService } from '../support/alerting.ts';
import { get } from '../support/http.ts';

const JUMP_MS = 100 * 86_400_000;
// Enough ticks for a storm.
const WATCHED_MS = 2_000;

let running: Awaited<ReturnType<typeof startAlertingService>>;
beforeAll(async () => {
  running = await startAlertingService();
});
afterAll(() => running.close());

async function readState(): Promise<string | undefined> {
  const { body } = await get(running.url, '/api/alerts');
  return (body.result as unknown as readonly AlertView[])[0]?.state;
}

/** Lets a few ticks pass by the clock of the test. */
async function watch(): Promise<void> {
  for (let ms = 0; ms < WATCHED_MS; ms += 500) {
    running.clock.now += 500;
    await new Promise((resolve) => void setTimeout(resolve, 500));
  }
}

test.each([
  ['ahead', JUMP_MS],
  ['back', -JUMP_MS],
])('a clock that jumps 100 days %s changes no alert, and nothing is sent', async (_, jumpMs) => {
  await expect.poll(readState).toBe('firing');
  await expect.poll(() => running.ops.received.length).toBe(1);
  for (const ms of [jumpMs, -jumpMs]) {
    running.clock.now += ms;
    await watch();
    expect([await readState(), running.ops.received.length]).toEqual(['firing', 1]);
  }
});
