import { expect, test } from 'vitest';
import { guardSearches, isPlainPattern } from '../../src/sql/search-guard.ts';

const VALUES: Readonly<Record<string, string>> = { plain: 'acme', flags: '(?i)(A|B)', path: 'C:\\Users' };
const guard = (sql: string) => guardSearches(sql, (name) => VALUES[name] ?? '');

const NOTHING = String.raw`'[^\\s\\S]|'`;

test.each([
  'match(address, @plain)',
  "match(address, '^https?://acme\\\\.example/(a|b)+[^/]*$')",
  "match(address, concat('^', @plain, '\\\\.'))",
  "address REGEXP '^' || @plain || '[.]' AND x",
  "address LIKE '%' || @plain || '%' ORDER BY x",
  "startsWith(address, @path) AND endsWith(address, 'x') AND multiSearchAny(address, ['a', @path])",
  'address ILIKE @path OR position(address, @path) > 0 OR extract(DAY FROM t) = 1',
  "match(address, @plain) AND position(body, '[') > 0 AND path = @path",
  "'match(x, @flags)' /* match(x, @flags) */",
  'SELECT like, by AS regexp, t.by FROM t WHERE regexp AND x ORDER BY like',
])('a search for what is plain stays as it is: %s', (sql) => {
  expect(guard(sql)).toBe(sql);
});

test.each([
  ['match(address, @flags)', `match(address, concat(${NOTHING}, @flags))`],
  ["`match`(address, '(?s)a')", `\`match\`(address, concat(${NOTHING}, '(?s)a'))`],
  ['WHERE on NOT LIKE @path', "WHERE on NOT LIKE identity('') || @path"],
  ["t.by LIKE concat('%', @path)", "t.by LIKE identity('') || concat('%', @path)"],
  ["match(a, concat('(?i)', @plain))", `match(a, concat(${NOTHING}, concat('(?i)', @plain)))`],
  ["match(a, unhex('C3A93F'))", `match(a, concat(${NOTHING}, unhex('C3A93F')))`], // `é?`
  ["match(a, '(' || '?i)b')", `match(a, concat(${NOTHING}, '(' || '?i)b'))`],
  ["WITH '(?i)b' AS p SELECT match(a, p)", `WITH '(?i)b' AS p SELECT match(a, concat(${NOTHING}, p))`],
  ["like(a, 'C:\\\\x', 'y')", "like(a, concat(identity(''), 'C:\\\\x'), 'y')"],
  ["a REGEXP ('\\\\x41')", `a REGEXP ${NOTHING} || ('\\\\x41')`],
])('any other search gets a guard: %s', (sql, guarded) => {
  expect(guard(sql)).toBe(guarded);
});

test.each([
  ['no sign of a pattern', 'acme é 😀', true],
  ['escapes, classes, groups, counts', '^(?:a\\.b|[^c-d\\]é]+)\\d{2,}(e|f)*?$', true],
  ['flags in front', '(?i)a', false],
  ['a group with a name', '(?P<a>b)', false],
  ['a bracket in a class', 'a[[]', false],
  ['a quotation', '\\Qa\\E', false],
  ['a character by its number', '\\x41', false],
  ['an optional letter beyond ASCII', 'café?', false],
  ['NUL', 'a\0b', false],
])('a pattern with %s (%s) is plain: %s', (_what, pattern, plain) => {
  expect(isPlainPattern(pattern)).toBe(plain);
});
