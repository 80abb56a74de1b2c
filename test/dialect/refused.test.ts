import { afterAll, expect, test } from 'vitest';
import { NOW } from './corpus/rows.ts';
import { REFUSED } from './refused.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio(Date.parse(NOW));
afterAll(studio.close);

test('there are at least 60 queries', () => {
  expect(new Set(REFUSED.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(60);
});

test.for(REFUSED.map(({ sql, names }) => [sql.slice(0, 100), names, sql] as const))(
  'refuses %s, naming %s, with nothing executed',
  async ([, names, sql]) => {
    const before = studio.executed.length;
    const { status, error, rows } = await studio.ask(sql, 'p');
    expect(rows).toEqual([]);
    expect({ status, ...error }).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      message: expect.stringMatching(names),
    });
    expect(studio.executed.slice(before)).toEqual([]);
  },
);

test('refuses a text of a megabyte for its length', async () => {
  const { status, error } = await studio.ask(`select '${'x'.repeat(1_000_000)}' as x`, 'p');
  expect({ status, code: error?.code }).toEqual({ status: 414, code: 'uri_too_long' });
});
