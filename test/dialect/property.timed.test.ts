import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Query } from '../../trial/oracle/bigquery/query.ts';
import { runs, SEED } from '../support/property.ts';
import { expectAnswer, toExpected } from './compare.ts';
import { NOW } from './corpus/rows.ts';
import { hostileTables } from './generate/event.ts';
import { query } from './generate/query.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio(Date.parse(NOW));
afterAll(studio.close);

const DATASETS = [4, 40, 80].map((size, i) => ({
  project: `hostile-${size}`,
  tables: hostileTables(SEED + 100 * i, size),
}));

beforeAll(async () => {
  for (const { project, tables } of DATASETS) await studio.add(project, tables);
});

test('a query answers what an interpreter computes from the events', async () => {
  let [answered, large] = [0, 0];
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom(...DATASETS), async (asked: Query, { project, tables }) => {
      const { rows, error } = await studio.ask(asked.sql, project);
      if (/must have at most|too large/.test(error?.message ?? '')) {
        large++; // a bound of the sandbox
        return;
      }
      expect(error, asked.sql).toBeUndefined();
      expectAnswer(rows, toExpected(asked.answer(tables)), asked.sql);
      answered++;
    }),
    // Smaller cases of a query are other queries: looking for them would take minutes.
    { ...runs(200), endOnFailure: true },
  );
  expect(large).toBeLessThan(answered / 2);
}, 240_000);

test('the random queries find rows', () => {
  const tables = DATASETS[1]?.tables ?? {};
  const answers = fc.sample(query, { numRuns: 40, seed: SEED }).map((asked) => asked.answer(tables));
  expect(answers.filter(({ classes }) => classes.length > 0).length).toBeGreaterThan(15);
});
