import { afterAll, expect, test } from 'vitest';
import { sample, scale } from '../support/property.ts';
import { composeSelect, createRandom, FAMILIES } from './nesting.ts';
import { createTrial } from './trial.ts';

const trial = createTrial();
afterAll(trial.close);

const SQL_BYTES_MAX = 16_384;
const ANALYSIS_MS_MAX = 2_000;

/** The sizes of a family of texts that fit into 16 KB, each three times the one before, and the largest. */
function sizesOf(family: (n: number) => string): number[] {
  const fits = (n: number) => Buffer.byteLength(family(n)) <= SQL_BYTES_MAX;
  const sizes: number[] = [];
  for (let n = 1; n < SQL_BYTES_MAX && fits(n); n *= 3) sizes.push(n);
  let [low, high] = [sizes.at(-1) ?? 1, 3 * (sizes.at(-1) ?? 1)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return [...new Set([...sizes, low])];
}

/** The largest size of a family that is allowed. */
async function findLargest(family: (n: number) => string, slow: unknown[]): Promise<string | undefined> {
  const isAllowed = async (n: number) => {
    const { code, ms } = await trial.try('check', family(n), 5_000);
    if (ms > ANALYSIS_MS_MAX || code === 'killed' || code === 'unexpected') slow.push([n, code, ms]);
    return code === undefined;
  };
  let [low, high] = [0, 0];
  for (const n of sizesOf(family)) {
    if (await isAllowed(n)) low = n;
    else if (high <= low) high = n;
  }
  for (let tries = 0; tries < 4 && high - low > 1; tries++) {
    const middle = Math.floor((low + high) / 2);
    if (await isAllowed(middle)) low = middle;
    else high = middle;
  }
  return low === 0 ? undefined : family(low);
}

test('no text of 16 KB takes two seconds to be refused, or to be analysed where it is allowed', async () => {
  const slow: unknown[] = [];
  for (const [name, family] of sample([...FAMILIES])) {
    const found: unknown[] = [];
    const largest = await findLargest(family, found);
    if (largest !== undefined) {
      const { code, ms } = await trial.try('analyse', largest, 5_000);
      if (ms > ANALYSIS_MS_MAX || !isAnswered(code)) found.push([largest.slice(0, 300), code, ms]);
    }
    if (found.length > 0) slow.push([name, found]);
  }
  expect(slow).toEqual([]);
}, 600_000);

test('nor does a text that has a bit of everything', async () => {
  const slow: unknown[] = [];
  let analysed = 0;
  for (let seed = 1; seed <= scale(400); seed++) {
    const sql = composeSelect(createRandom(seed * 7_919));
    if (Buffer.byteLength(sql) > SQL_BYTES_MAX) continue;
    const checked = await trial.try('check', sql, 5_000);
    const refused = checked.code === 'invalid_parameter';
    const outcome = refused ? checked : await trial.try('analyse', sql, 5_000);
    if (!refused) analysed++;
    if (Math.max(checked.ms, outcome.ms) > ANALYSIS_MS_MAX || !isAnswered(outcome.code))
      slow.push([seed, outcome]);
  }
  expect(slow).toEqual([]);
  expect(analysed).toBeGreaterThan(scale(100));
}, 600_000);

function isAnswered(code: string | undefined): boolean {
  return code === undefined || code === 'invalid_parameter' || code === 'query_failed';
}
