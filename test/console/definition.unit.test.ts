import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { newFiles, readOutline, withColumns, withName } from '../../console/src/page/workbench/definition.ts';

const YAML = `# Of the team.
id: 5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11
name: a.b # as in the app
max_rows: 5

columns:
  # the path
  path: { type: string, description: "Path: without the query." }
  n:
    type: integer
    description: >-
      folded
      text

# How long.
caching: 60
`;

describe('the columns of the query in a definition', () => {
  test('keep written descriptions, and leave everything else as it is', () => {
    const columns = [
      { name: 'path', type: 'string' as const },
      { name: 'n', type: 'number' as const },
      { name: 'status_code', type: 'integer' as const },
      { name: 'error_rate', type: 'number' as const },
    ];
    const tables = [
      { name: 'edge_logs', columns: [{ name: 'status_code', description: 'HTTP status, if any.' }] },
    ];
    const text = withColumns(YAML, columns, tables);
    expect(text).toBe(
      YAML.replace(
        / {2}# the path[\s\S]*folded\n {6}text\n/,
        `  path: { type: string, description: "Path: without the query." }
  n: { type: number, description: folded text }
  status_code: { type: integer, description: "HTTP status, if any." }
  error_rate: { type: number, description: Error rate. }
`,
      ),
    );
    expect(Object.keys(parse(text).columns)).toEqual(['path', 'n', 'status_code', 'error_rate']);
  });

  test.each(['id: 1\n', 'id: 1\ncolumns:\n', 'id: 1\ncolumns: {}\n', '', 'columns: 5\nid: 1\n'])(
    'are added to %j',
    (text) => {
      const columns = [{ name: 'true', type: 'boolean' as const }];
      expect(parse(withColumns(text, columns, [])).columns).toEqual({
        true: { type: 'boolean', description: 'True.' },
      });
    },
  );

  test('may have any name', () => {
    const columns = ['a, b', 'c: d', '{e}', '# f', '"g"', "h'", 'i\nj'].map((name) => ({
      name,
      type: 'string' as const,
    }));
    expect(Object.keys(parse(withColumns('', columns, [])).columns)).toEqual(columns.map(({ name }) => name));
  });
});

test('a copy has another name and id, and is otherwise the same', () => {
  expect(withName(YAML, 'c.d', 'e')).toBe(
    YAML.replace('a.b', 'c.d').replace('5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11', 'e'),
  );
});

test('the outline has what a query may use, also of a definition with faults', () => {
  const parameters = (text: string) => readOutline(text).parameters.map(({ name }) => name);
  expect(parameters('parameters:\n  project: { type: string }\n  since:\n')).toEqual([
    'project',
    'since',
    'now',
  ]);
  expect(parameters('bucket: {}\ncursor: {}\nparameters: 7')).toEqual([
    ...['now', 'bucket_from', 'bucket_until', 'bucket_width', 'page_from', 'page_until'],
  ]);
  expect(parameters('- [')).toEqual(['now']);
  expect(readOutline(YAML)).toMatchObject({ name: 'a.b' });
});

test('a new endpoint reads a table that knows projects', () => {
  const { sql, definition } = newFiles([
    { name: 'others', columns: [] },
    { name: 'auth_logs', columns: [{ name: 'project' }] },
  ]);
  expect(sql).toContain('FROM auth_logs AS e');
  expect(parse(definition).id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
