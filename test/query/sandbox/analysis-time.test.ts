import { afterAll, expect, test } from 'vitest';
import { FAMILIES, type Family } from './nesting.ts';
import { createTrial, type Outcome } from './trial.ts';

const trial = createTrial();
afterAll(trial.close);

// What a caller may send: TAILRACE_SANDBOX_SQL_BYTES_MAX.
const SQL_BYTES_MAX = 16_384;
const ANALYSIS_MS_MAX = 2_000;
const KILL_AFTER_MS = 8_000;
const SIZES = [12, 40] as const;

/** The largest text of a family that may be sent. */
function findLargest(family: Family): number {
  let [small, large] = [1, 2];
  while (family(large).length <= SQL_BYTES_MAX) [small, large] = [large, large * 2];
  while (large - small > 1) {
    const middle = Math.floor((small + large) / 2);
    if (family(middle).length <= SQL_BYTES_MAX) small = middle;
    else large = middle;
  }
  return small;
}

/** The better of two tries: the machine may have been busy with something else during the first. */
async function analyse(sql: string): Promise<Outcome> {
  const first = await trial.try('analyse', sql, KILL_AFTER_MS);
  return first.ms < ANALYSIS_MS_MAX ? first : await trial.try('analyse', sql, KILL_AFTER_MS);
}

test.each([...FAMILIES])('%s: refused or analysed in time, whatever its size', async (_, family) => {
  const sizes = [...SIZES.filter((n) => family(n).length <= SQL_BYTES_MAX), findLargest(family)];
  for (const n of new Set(sizes)) {
    const outcome = await analyse(family(n));
    expect(outcome.ms, `with ${n}`).toBeLessThan(ANALYSIS_MS_MAX);
    expect([undefined, 'invalid_parameter', 'query_failed', 'query_timeout']).toContain(outcome.code);
  }
});
