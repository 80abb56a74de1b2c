import { afterAll, describe, expect, test } from 'vitest';
import {
  parseSyntaxTree,
  readQueryTree,
  readSyntaxTree,
  SyntaxTreeError,
  walk,
} from '../../src/sandbox/syntax-tree.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);

const kinds = async (sql: string) =>
  [...walk(await readSyntaxTree(core.engine, sql))].map(({ kind, text }) => `${kind} ${text}`.trim());

test('a query is read as the engine has parsed it', async () => {
  const root = await readSyntaxTree(
    core.engine,
    "SELECT count() AS n FROM edge_logs AS l WHERE project = 'a (b'",
  );
  const [select] = root.children[0]?.children ?? [];
  expect(select?.children.map(({ kind }) => kind)).toEqual([
    'ExpressionList',
    'TablesInSelectQuery',
    'Function',
  ]);
  expect(select?.children[2]).toEqual({
    ...{ kind: 'Function', text: 'equals', count: 1, indent: 3 },
    children: [
      expect.objectContaining({
        kind: 'ExpressionList',
        children: [
          expect.objectContaining({ kind: 'Identifier', text: 'project', children: [] }),
          expect.objectContaining({ kind: 'Literal', text: "'a (b'" }),
        ],
      }),
    ],
  });
  expect(await kinds('SELECT 1')).toContain('Literal UInt64_1');
});

test('what a text or a comment holds is no part of the tree', async () => {
  const sql = "SELECT 'file(1)\n  Function file (children 1)' AS a /* Function file */ -- FROM system.one";
  expect((await kinds(sql)).filter((kind) => /^(Function|TableIdentifier)/.test(kind))).toEqual([]);
});

test('the query tree shows what APPLY does', async () => {
  const tree = await readQueryTree(core.engine, "SELECT * APPLY(x -> upper(x)) FROM (SELECT 'a' AS n)");
  const functions = [...walk(tree)].filter(({ kind }) => kind === 'FUNCTION');
  expect(functions.map(({ text }) => text)).toEqual([expect.stringContaining('function_name: upper')]);
});

describe('is refused:', () => {
  test.each([
    ['a name with a line break', 'SELECT 1 AS `a\n  Function count (children 1)`'],
    ['a name with an escaped line break', 'SELECT 1 AS `a\\n  b`'],
    ['a name in the other quotes with a line break', 'SELECT 1 AS "a\nb"'],
    ['a name with a backquote', 'SELECT 1 AS "a`b"'],
    ['a name that looks like a count of children', 'SELECT `a (children 3)` FROM edge_logs'],
  ])('%s', async (_, sql) => {
    await expect(readSyntaxTree(core.engine, sql)).rejects.toThrow(SyntaxTreeError);
  });

  test.each(['SELECT 1; SELECT 2', 'SELECT 1; DROP TABLE edge_logs', 'SELECT (', '', '-- nothing'])(
    'what is not one statement: %s',
    async (sql) => {
      await expect(readSyntaxTree(core.engine, sql)).rejects.toThrow(/DB::Exception/);
    },
  );

  test.each([[[]], [['A (children 1)']], [['A', 'B']], [['A (children 1)', ' B', ' C']]])(
    'lines that are no tree: %j',
    (lines) => {
      expect(() => parseSyntaxTree(lines)).toThrow(SyntaxTreeError);
    },
  );
});
