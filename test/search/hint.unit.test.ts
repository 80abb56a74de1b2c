import { expect, test } from 'vitest';
import { queryTimeout } from '../../src/engine/gate.ts';
import { TailraceError } from '../../src/errors.ts';
import { describeDoubts, suggestNarrowing } from '../../src/search/hint.ts';
import { parseSearch } from '../../src/search/parse.ts';

/** Doubts beside that no source declares a field. */
const describe = (q: string) =>
  describeDoubts(parseSearch(q, 100), { sources: [] })?.replace(
    /^no source declares .*?may not have it(?:; to search for the text, .*?: ".*?")?(?:; |$)/,
    '',
  ) || undefined;

test.each([
  ['status>500', 'for a field write status:>500'],
  ['a (b or level!=error)', 'for a field write -level:error'],
  ['-status>=500', 'for a field write status:>=500'],
  ['a && b', '&& was searched for as text; write and'],
  ['a or "b c".d:=5*', 'write "b c".d:5*'],
  ['source:nowhere', 'no searched source is called nowhere'],
  ['/time.*out/', 'there are no regular expressions'],
  ['path:/rest.+/', 'write * for any text, as in path:/rest/*'],
  ['a |= "b"', '|= was searched for as text; write the text without it'],
  ['timeout {app="x"}', '{app= was searched for as text; for a field write field:value'],
])('a search for %j that finds nothing gets a hint', (q, hint) => {
  expect(describe(q)).toContain(hint);
});

// As nothing is found by them, and no source has such a field, they are texts.
test.each([
  'http://cache.internal:8080/health',
  'localhost:3000',
  '10:42:07',
  '00:1a:2b',
  'cache.internal:80/a?b=c',
])('a search for %s that finds nothing gets the text in quotes', (text) => {
  const [, advice] =
    describeDoubts(parseSearch(`a -${text}`, 100), { sources: [] })?.split('have it; ') ?? [];
  expect(advice).toBe(`to search for the text, put it in quotes: "${text}"`);
});

test.each(['a -> b', '1=1', 'a:b=c', '/rest/', 'path:"/a.*/"', '{}'])('a search for %j gets none', (q) => {
  expect(describe(q)).toBeUndefined();
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
