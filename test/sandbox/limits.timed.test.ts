import { expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { LIMITED } from './attacks.ts';
import { openSandbox } from './support.ts';

const { core, ask } = await openSandbox({ TAILRACE_QUERY_TIMEOUT_MS: '2000' });

test.each(Object.entries(LIMITED))('%s end, and the engine goes on', async (_, texts) => {
  for (const sql of texts) {
    const error: unknown = await ask(sql).then(
      () => undefined,
      (thrown) => thrown,
    );
    if (error !== undefined) expect(error, sql).toBeInstanceOf(TailraceError);
    // A reader is free once the engine has ended the query.
    await expect.poll(() => core.engine.gauges().running, { timeout: 5_000, message: sql }).toBe(0);
  }
  expect(core.engine.gauges()).toMatchObject({ state: 'up', restarts: 0 });
});
