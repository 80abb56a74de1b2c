import { describe, expect, test } from 'vitest';
import { guardSearches, isPlainPattern } from '../../src/sql/search-guard.ts';
import { findTextSearches } from '../../src/sql/text-search.ts';
import { coreMs, growth } from '../../trial/growth.ts';

const VALUES: Readonly<Record<string, string>> = { plain: 'acme', flags: '(?i)(A|B)', path: 'C:\\Users' };
const guard = (sql: string) => guardSearches(sql, findTextSearches(sql), (name) => VALUES[name] ?? '');

const NOTHING = String.raw`'[^\\s\\S]|'`;

describe('a search for what is plain stays as it is', () => {
  test.each([
    'match(address, @plain)',
    "match(address, '^https?://acme\\\\.example/(a|b)+[^/]*$')",
    "match(address, '^acme\\.example')",
    "match(address, 'https:\\/\\/')",
    "match(address, concat('^', @plain, '\\\\.'))",
    "address REGEXP '^' || @plain || '[.]' AND x",
    "address LIKE '%' || @plain || '%' ORDER BY x",
    "address NOT LIKE concat('%', @plain)",
    "startsWith(address, @path) AND endsWith(address, 'x') AND multiSearchAny(address, ['a', @path])",
    "countMatches(address, 'a|b')",
    'address ILIKE @path OR position(address, @path) > 0 OR extract(DAY FROM t) = 1',
    "'match(x, @flags)' /* match(x, @flags) */",
    'SELECT match, t.like, x AS like FROM t',
    'SELECT like, by AS regexp, t.by FROM t WHERE regexp AND x ORDER BY like',
    'EXPLAIN AST SELECT match(address, @flags)',
    'EXPLAIN QUERY TREE run_passes = 0 SELECT match(address, @flags)',
  ])('%s', (sql) => {
    expect(guard(sql)).toBe(sql);
  });
});

describe('any other search gets a guard', () => {
  test.each([
    ['match(address, @flags)', `match(address, concat(identity(${NOTHING}), @flags))`],
    ["`match`(address, '(?s)a')", `\`match\`(address, concat(identity(${NOTHING}), '(?s)a'))`],
    ["`ma\\x74ch`(a, '(?s)a')", `\`ma\\x74ch\`(a, concat(identity(${NOTHING}), '(?s)a'))`],
    ["WHERE by REGEXP '(?s)a'", `WHERE by REGEXP identity(${NOTHING}) || '(?s)a'`],
    ['WHERE on NOT LIKE @path', "WHERE on NOT LIKE identity('') || @path"],
    ["t.by LIKE concat('%', @path)", "t.by LIKE identity('') || concat('%', @path)"],
    ['t.by LIKE (@path)', "t.by LIKE identity('') || (@path)"],
    ["regexpExtract(a, 'é?', 0)", `regexpExtract(a, concat(${NOTHING}, 'é?'), 0)`],
    ['REGEXP_INSTR(a, @flags)', `REGEXP_INSTR(a, concat(${NOTHING}, @flags))`],
    ["REGEXP_MATCHES(a, '(?i)b')", `REGEXP_MATCHES(a, concat(identity(${NOTHING}), '(?i)b'))`],
    ["match(a, concat('(?i)', @plain))", `match(a, concat(identity(${NOTHING}), concat('(?i)', @plain)))`],
    ["match(a, '(' || '?i)b')", `match(a, concat(identity(${NOTHING}), '(' || '?i)b'))`],
    ['match(a, (SELECT p FROM t))', `match(a, concat(identity(${NOTHING}), (SELECT p FROM t)))`],
    ['match(a, char(40, 63))', `match(a, concat(identity(${NOTHING}), char(40, 63)))`],
    ['match(a, pattern)', `match(a, concat(identity(${NOTHING}), pattern))`],
    ["match(a, '\\x28?i)b')", `match(a, concat(identity(${NOTHING}), '\\x28?i)b'))`],
    ['(a) REGEXP @flags AND b', `(a) REGEXP identity(${NOTHING}) || @flags AND b`],
    ['a REGEXP @plain || b', `a REGEXP identity(${NOTHING}) || @plain || b`],
    ['countMatches(a, @flags) > 0', `countMatches(a, concat(${NOTHING}, @flags)) > 0`],
    ["replaceRegexpAll(a, @flags, 'x')", `replaceRegexpAll(a, concat(${NOTHING}, @flags), 'x')`],
    ['splitByRegexp(@flags, a)', `splitByRegexp(concat(${NOTHING}, @flags), a)`],
    ["a LIKE '%' || @path || '%'", "a LIKE identity('') || '%' || @path || '%'"],
    ["a NOT LIKE '\\\\_'", "a NOT LIKE identity('') || '\\\\_'"],
    ["a LIKE 'x' ESCAPE '!'", "a LIKE identity('') || 'x' ESCAPE '!'"],
    ['a LIKE (@path)', "a LIKE identity('') || (@path)"],
    ['WHERE NOT like(a, @path)', 'WHERE NOT like(a, identity(@path))'],
    ['startsWith(a, left(@plain, 2))', 'startsWith(a, identity(left(@plain, 2)))'],
    ["multiSearchAny(a, ['\\xa9'])", "multiSearchAny(a, identity(['\\xa9']))"],
    [
      "match(a, if(b LIKE @path, @flags, ''))",
      `match(a, concat(identity(${NOTHING}), if(b LIKE identity('') || @path, @flags, '')))`,
    ],
  ])('%s', (sql, guarded) => {
    expect(guard(sql)).toBe(guarded);
  });
});

test.each([
  ['no sign of a pattern', 'acme é 😀', true],
  ['escapes, classes, groups, counts', '^(?:a\\.b|[^c-d\\]é]+)\\d{2,}(e|f)*?$', true],
  ['flags in front', '(?i)a', false],
  ['flags of a group', 'a(?i:b)', false],
  ['flags that are taken off', 'a(?-i)b', false],
  ['a group with a name', '(?P<a>b)', false],
  ['a bracket in a class', 'a[[]', false],
  ['a bracket first in a class', 'a[]b]', false],
  ['a class without an end', '[a', false],
  ['a kind of characters', '[[:alpha:]]', false],
  ['a quotation', '\\Qa\\E', false],
  ['a character by its number', '\\x41', false],
  ['an optional letter beyond ASCII', 'café?', false],
  ['a repeated letter beyond ASCII', 'café+', true],
  ['a brace that is no count', 'a{b}', false],
  ['NUL', 'a\0b', false],
  ['a caret in a class', '[^^a][a^]', true],
  ['nothing in a negated class', '[^]', false],
  ['a repeated repetition', 'a???', false],
])('a pattern with %s (%s) is plain: %s', (_what, pattern, plain) => {
  expect(isPlainPattern(pattern)).toBe(plain);
});

// As often as takes a reading by trial and error some seconds.
test.each([
  ['?', 40],
  ['[^a]', 28],
  ['a{1,2}?', 28],
  ['(?:^', 28],
])('%s, %i times in a pattern that is not plain, costs no time', (part, count) => {
  const pattern = `a${part.repeat(count)}[`;
  expect(isPlainPattern(pattern)).toBe(false);
  expect(coreMs(() => isPlainPattern(pattern))).toBeLessThan(500);
});

test.each(['match(', 'match(x, ', "match(x, 'a') AND ", 'x LIKE concat(', 'match(x, [', "x LIKE 'a' || "])(
  'the time is in step with the length of the SQL: many times %s',
  (part) => {
    let calls = 0; // each text differs, since a known one is not read again
    const read = (count: number) => findTextSearches(`${part.repeat(count)} ${++calls}`);
    expect(growth(read, 5_000)).toBeLessThan(3);
  },
);
