import { expect, test } from 'vitest';
import { queryTimeout } from '../../src/engine/failure.ts';
import { TailraceError } from '../../src/errors.ts';
import { planHistogram } from '../../src/search/histogram.ts';
import { parseSearch } from '../../src/search/parse.ts';
import type { PartRequest } from '../../src/search/part.ts';
import { describeDoubts, suggestNarrowing } from '../../src/search/search.ts';

// As nothing is found by them, and no source has such a field, they are texts.
test.each([
  'http://cache.internal:8080/health',
  'localhost:3000',
  '10:42:07',
  '00:1a:2b',
  'cache.internal:80/a?b=c',
])('a search for %s that finds nothing gets the text in quotes', (text) => {
  const [, advice] =
    describeDoubts({ tree: parseSearch(`a -${text}`, 100), sources: [] }, {})?.split('have it; ') ?? [];
  expect(advice).toBe(`to search for the text, put it in quotes: "${text}"`);
});

test.each(['a -> b', '1=1', '/rest/', '{}'])('a search for %j gets none', (q) => {
  expect(describeDoubts({ tree: parseSearch(q, 100), sources: [] }, {})).toBeUndefined();
});

test('a search that takes too long or too much fails with what to do', () => {
  const advised = suggestNarrowing(queryTimeout(30_000));
  expect(advised).toMatchObject({ code: 'query_timeout' });
  expect((advised as TailraceError).message).toMatch(
    /^the query took longer than 30000 ms .*; search a shorter range/,
  );
  const memory = new TailraceError('query_failed', 'the query needs more memory than one query may take');
  expect((suggestNarrowing(memory) as TailraceError).message).toMatch(/memory.*; search a shorter range/);
  for (const other of [new Error('a'), new TailraceError('overloaded', 'b')])
    expect(suggestNarrowing(other)).toBe(other);
});

test('the hint of a measure over a field with a long name fits a header', () => {
  const long = 'a'.repeat(8_000);
  const { doubt = '' } = planHistogram({
    scope: { sources: [], range: { from: 0, until: 60 } },
    values: { by: 'level', measure: `p95(${long})`, buckets: '60' },
  } as unknown as PartRequest);
  expect(doubt).toContain('no number was found in aaa');
  expect(doubt.length).toBeLessThan(400);
});
