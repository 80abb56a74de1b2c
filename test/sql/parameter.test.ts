import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRewriter, findParameters } from '../../src/sql/parse.ts';
import { identifier, sql as write } from '../../src/sql/sql.ts';
import { runs } from '../support/property.ts';
import { shareService } from '../support/service.ts';

const names = (sql: string) => findParameters(sql).map((use) => use.name);

describe('finding @name', () => {
  test.each([
    ["'it''s @a' @b", ['b']],
    ["'\\\\'@a' @b'", ['a']],
    ['"@a" @b "x""@c"', ['b']],
    ['`@a` @b `x\\`@c`', ['b']],
    ['-- @a\n@b', ['b']],
    ['/* /* @a */ @a */ @b', ['b']],
    ['$x$ @a $$ @a $x$ @b', ['b']],
    ['‘@a’ @b', ['b']],
    ['@@a @b', ['b']],
  ])('%j holds %j', (sql, found) => {
    expect(names(sql)).toEqual(found);
  });

  test('tells the place of each', () => {
    const sql = "SELECT @a,\n'\n\n@x', /*\n*/ @b\r\n-- @y\n@c";
    const uses = findParameters(sql);
    expect(uses.map((use) => use.name)).toEqual(['a', 'b', 'c']);
    for (const use of uses) expect(sql.slice(use.start, use.end)).toBe(`@${use.name}`);
  });
});

test('rewriting @name changes nothing but the places that were found', () => {
  const piece = fc.oneof(
    fc.constantFrom(...'@a @b \' " ` \\ /* */ -- // $$ $x$ @@ ‘ ’ “ ”'.split(' '), '# ', '\n', ' '),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const text = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));
  const property = fc.property(text, (sql) => {
    const uses = findParameters(sql);
    let expected = sql;
    for (const use of uses.toReversed())
      expected = `${expected.slice(0, use.start)}<${use.name}>${expected.slice(use.end)}`;
    expect(createRewriter(sql)((name) => `<${name}>`)).toBe(expected);
  });
  fc.assert(property);
});

describe('the engine agrees', async () => {
  const { core } = await shareService();
  const { engine } = core;

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

  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc
      .array(fc.constantFrom(..."' '' \\ ` \" -- # /* */ $$ @p ;".split(' '), '\0', '\n', '\r'))
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
});
