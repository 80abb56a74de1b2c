import { expect, test } from 'vitest';
import { LIMITED } from './attacks.ts';
import { openSandbox } from './support.ts';

const { core, tryAsk } = await openSandbox({ TAILRACE_QUERY_TIMEOUT_MS: '2000' });

test.each(Object.entries(LIMITED))('%s end, and the engine goes on', async (_, texts) => {
  for (const sql of texts) {
    await tryAsk(sql);
    // A reader is free once the engine has ended the query.
    await expect.poll(() => core.engine.gauges().running, { timeout: 5_000, message: sql }).toBe(0);
  }
  expect(core.engine.gauges()).toMatchObject({ state: 'up', restarts: 0 });
});
