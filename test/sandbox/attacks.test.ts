import { afterAll, describe, expect, test } from 'vitest';
import { sample } from '../support/property.ts';
import { ATTACKS, HEAVY } from './attacks.ts';
import { ESCAPES } from './escapes.ts';
import { createTrial } from './trial.ts';

// Any of these may stop the engine for good, so all are tried in a process that can be killed.
const trial = createTrial();
const TIMEOUT_MS = 1_000;
const busy = createTrial({ timeoutMs: TIMEOUT_MS, memoryBytesMax: 1024 * 1024 * 1024 });
afterAll(() => {
  trial.close();
  busy.close();
});

const texts = Object.values(ATTACKS).flat();

test('the corpus of what must be refused has at least 900 texts', () => {
  const all = [...texts, ...Object.values(ESCAPES).flat()];
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(900);
});

describe('refused before the engine resolves a name, within two seconds', () => {
  test.each(Object.entries(ATTACKS))(
    '%s',
    async (_, attacks) => {
      const wrong: unknown[] = [];
      for (const sql of sample(attacks)) {
        const { code, message, ms } = await trial.try('check', sql, 5_000);
        if (code !== 'invalid_parameter' || ms > 2_000) wrong.push([sql.slice(0, 300), code, message, ms]);
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});

describe('what is allowed ends within two seconds of its deadline', () => {
  test.each(sample(HEAVY))(
    '%s',
    async (sql) => {
      expect(await trial.try('check', sql, 5_000)).not.toHaveProperty('code');
      const { code, ms } = await busy.try('ask', sql, 20_000);
      expect(['query_timeout', 'query_failed', undefined]).toContain(code);
      expect(ms).toBeLessThan(TIMEOUT_MS + 2_000);
    },
    60_000,
  );
});
