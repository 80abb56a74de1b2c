import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import { createRewriter, findParameters } from '../../src/sql/parameter.ts';
import { identifier, sql as write } from '../../src/sql/sql.ts';
import { runs } from '../support/property.ts';
import { temporaryFolder } from '../support/service.ts';

const names = (sql: string) => findParameters(sql).map((use) => use.name);

describe('finding @name', () => {
  test.each([
    ['SELECT @a', ['a']],
    ['@a@b', ['a', 'b']],
    ['@a,@a', ['a', 'a']],
    ['(@a)+@b_1::Int8', ['a', 'b_1']],
    ['@a.b', ['a']],
    ["'@a' @b", ['b']],
    ["'it''s @a' @b", ['b']],
    ["'\\'@a' @b", ['b']],
    ["'\\\\'@a' @b'", ['a']],
    ["'' @a ''", ['a']],
    ['"@a" @b "x""@c"', ['b']],
    ['`@a` @b `x\\`@c`', ['b']],
    ['-- @a\n@b', ['b']],
    ['// @a\n@b', ['b']],
    ['# @a\n@b', ['b']],
    ['#! @a\n@b', ['b']],
    ['1 /@a', ['a']],
    ['1 - @a', ['a']],
    ['/* @a */ @b', ['b']],
    ['/* /* @a */ @a */ @b', ['b']],
    ['/* @a', []],
    ['/*/ @a */ @b', ['b']],
    ['$$@a$$ @b', ['b']],
    ['$x$ @a $$ @a $x$ @b', ['b']],
    ['‘@a’ @b', ['b']],
    ['“@a” @b', ['b']],
    ['@@a @b', ['b']],
    ['@@@a', ['a']],
    ['@ a', []],
    ['@1', []],
    ['x@a', ['a']],
    ["'@a", []],
    ['', []],
  ])('%j holds %j', (sql, found) => {
    expect(names(sql)).toEqual(found);
  });

  test('tells the place and the line of each', () => {
    const sql = "SELECT @a,\n'\n\n@x', /*\n*/ @b\r\n-- @y\n@c";
    const uses = findParameters(sql);
    expect(uses.map((use) => [use.name, use.line])).toEqual([
      ['a', 1],
      ['b', 5],
      ['c', 7],
    ]);
    for (const use of uses) expect(sql.slice(use.start, use.end)).toBe(`@${use.name}`);
  });

  test('takes a time in step with the length of the text, whatever is in it', () => {
    for (const part of ["'", '"', '`', '/*', '*/', '$a', '$a$', '@', '\\', '‘', "''", '--']) {
      expect(names(`${part.repeat(100_000)}`)).toEqual([]);
    }
  });
});

describe('rewriting @name', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '@a',
      '@b',
      "'",
      '"',
      '`',
      '\\',
      '/*',
      '*/',
      '--',
      '//',
      '# ',
      '\n',
      '$$',
      '$x$',
      '@@',
      ' ',
      '‘',
      '’',
      '“',
      '”',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const text = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));

  test('to itself gives the same text', () => {
    fc.assert(fc.property(text, (sql) => createRewriter(sql)((name) => `@${name}`) === sql));
  });

  test('changes nothing but the places that were found', () => {
    const property = fc.property(text, (sql) => {
      const uses = findParameters(sql);
      let expected = sql;
      for (const use of uses.toReversed())
        expected = `${expected.slice(0, use.start)}<${use.name}>${expected.slice(use.end)}`;
      expect(createRewriter(sql)((name) => `<${name}>`)).toBe(expected);
    });
    fc.assert(property);
  });

  test('writes each use anew, so that a rewriter serves many runs', () => {
    const rewrite = createRewriter('@a-@a');
    let n = 0;
    expect(rewrite(() => String(++n))).toBe('1-2');
    expect(rewrite(() => '$&')).toBe('$&-$&');
  });
});

describe('the engine agrees', async () => {
  const folder = await temporaryFolder();
  const engine = await openEmbeddedEngine({
    dataDir: folder.path,
    readers: 1,
    queueMax: 1,
    queuePerLaneMax: 10,
    queueTimeoutMs: 10_000,
    memoryBytesMax: 2 * 1024 ** 3,
    limits: { timeoutMs: 10_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 },
  });
  afterAll(async () => {
    await engine.close();
    await folder.remove();
  });

  // Tokens with what each adds to a concatenation: `p` is a parameter, everything else is text or nothing.
  const inner = fc.constantFrom('@p', '@p @p', 'x@p', '--@p', '/*@p', '//', '# ', 'é😀', '@@p', '');
  const literal = fc.oneof(
    inner.map((s) => [`'${s}'`, s] as const),
    inner.map((s) => [`'${s}''${s}'`, `${s}'${s}`] as const),
    inner.map((s) => [`'\\'${s}\\\\'`, `'${s}\\`] as const),
    inner.map((s) => [`$$${s}$$`, s] as const),
    inner.map((s) => [`$tag$${s}'$$$tag$`, `${s}'$$`] as const),
    inner.map((s) => [`‘${s}’`, s] as const),
    fc.constant(['@p', 'VALUE'] as const),
    fc.constant(['(@p)', 'VALUE'] as const),
    fc.constant(['@p::String', 'VALUE'] as const),
  );
  const gap = fc.oneof(
    fc.constantFrom('', ' ', '\n', '\t', ' -- @p\n', ' // @p\n', '# @p\n', '#! @p\n'),
    inner.filter((s) => !s.includes('/*')).map((s) => `/* ${s} */`),
    inner.filter((s) => !s.includes('/*')).map((s) => `/* /* ${s} */ ' @p " */`),
  );

  test('on which @p is a value and which is text or a comment', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(gap, literal, gap), { minLength: 1, maxLength: 6 }),
      async (tokens) => {
        const list = tokens.map(([before, [sql], after]) => `${before}${sql}${after}`).join(',');
        const text = `SELECT toJSONString([${list}])`;
        const { bytes } = await engine.query(text, { p: 'VALUE' }, { format: 'TSVRaw' });
        expect(JSON.parse(bytes.toString())).toEqual(tokens.map(([, [, value]]) => value));
      },
    );
    await fc.assert(property, runs(300));
  });

  test.each([
    ['`@p`', 'SELECT `@p` FROM (SELECT 1 AS `@p`)'],
    ['"@p"', 'SELECT "@p" FROM (SELECT 1 AS "@p")'],
    ['“@p”', 'SELECT “@p” FROM (SELECT 1 AS “@p”)'],
    ['`a``@p`', 'SELECT `a``@p` FROM (SELECT 1 AS `a``@p`)'],
    ['"\\"@p"', 'SELECT "\\"@p" FROM (SELECT 1 AS "\\"@p")'],
  ])('that %s is an identifier', async (_, sql) => {
    expect(names(sql)).toEqual([]);
    expect((await engine.query(sql, {}, { format: 'TSVRaw' })).bytes.toString()).toBe('1\n');
  });

  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc
      .array(
        fc.constantFrom("'", "''", '\\', '`', '"', '\0', '\n', '\r', '--', '#', '/*', '*/', '$$', '@p', ';'),
      )
      .map((pieces) => pieces.join('')),
  );

  test('on every value of a statement that the tagged template writes', async () => {
    const property = fc.asyncProperty(
      fc.array(hostile, { minLength: 1, maxLength: 20 }),
      hostile,
      async (values, last) => {
        const statement = write`SELECT toJSONString([${values}, ${last}])`;
        const { bytes } = await engine.query(statement.text, {}, { format: 'TSVRaw' });
        expect(JSON.parse(bytes.toString())).toEqual([...values, last]);
        const [row] = await engine.inspect(write`SELECT [${values}, ${last}] AS ${identifier('all')}`);
        expect(row?.['all']).toEqual([...values, last]);
      },
    );
    await fc.assert(property, runs(200));
  });

  test.each([
    ['a quote', "' OR 1 = 1 --"],
    ['a backslash before the end', "\\' OR 1 = 1 --\\"],
    ['a NUL', 'a\0b'],
    ['a parameter of the server', '{x:String}'],
    ['a parameter', '@name'],
    ['line breaks', 'a\n\r\nb\u2028'],
    ['comments', '/* -- # // */'],
    ['quotes of other alphabets', '‘a’ “b”'],
    ['a heredoc', "$$'$$ $x$"],
    ['an escape', '\\n\\x27\\u0027'],
    ['characters that replacements interpret', '$& $1 $`'],
    ['300,000 characters', "'\\".repeat(150_000)],
  ])('on a value with %s', async (_, value) => {
    const [row] = await engine.inspect(write`SELECT ${value} AS value, ${7} AS number`);
    expect(row).toEqual({ value, number: 7 });
  });

  test('on a lone surrogate, which becomes U+FFFD', async () => {
    const [row] = await engine.inspect(write`SELECT ${'a\ud800b'} AS value`);
    expect(row).toEqual({ value: 'a\ufffdb' });
  });
});
