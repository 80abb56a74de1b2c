import { afterAll, expect, test } from 'vitest';
import { parseSyntaxTree, readSyntaxTree, SyntaxTreeError, walk } from '../../src/sandbox/syntax-tree.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);

test('a query is read as the engine has parsed it, without what its texts and comments hold', async () => {
  const sql =
    "SELECT count() AS n, 'file(1)\n  Function file (children 1)' AS a /* Function file */ FROM edge_logs WHERE project = 'a (b' -- FROM system.one";
  const nodes = [...walk(await readSyntaxTree(core.engine, sql))];
  const calls = nodes.filter(({ kind }) => /^(?:Function|TableIdentifier)/.test(kind));
  expect(calls.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    ...['Function count (alias n)', 'TableIdentifier edge_logs', 'Function equals'],
  ]);
  expect(nodes.map(({ text }) => text)).toContain("'a (b'");
});

test.each([
  ['a name with a line break', 'SELECT 1 AS `a\n  Function count (children 1)`', SyntaxTreeError],
  ['a name with a backquote', 'SELECT 1 AS "a`b"', SyntaxTreeError],
  ['two statements', 'SELECT 1; DROP TABLE edge_logs', /DB::Exception/],
])('%s is rejected', async (_, sql, error) => {
  await expect(readSyntaxTree(core.engine, sql)).rejects.toThrow(error);
});

test.each([[[]], [['A (children 1)']], [['A', 'B']], [['A (children 1)', ' B', ' C']]])(
  'lines that are not a tree are rejected: %j',
  (lines) => {
    expect(() => parseSyntaxTree(lines)).toThrow(SyntaxTreeError);
  },
);
