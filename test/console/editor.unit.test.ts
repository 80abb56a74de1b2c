import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withColumns } from '../../console/src/page/workbench/definition.ts';
import { diffTexts } from '../../console/src/ui/diff/line-diff.ts';
import { suggest, type Vocabulary } from '../../console/src/ui/editor/completion.ts';
import { runs } from '../support/property.ts';

const WORDS: Vocabulary = {
  functions: ['count', 'countIf'],
  tables: [
    { name: 'auth_logs', columns: [{ name: 'id', type: 'String' }, { name: 'grant' }] },
    {
      name: 'edge_logs',
      columns: [
        { name: 'id', type: 'String' },
        { name: 'status_code', type: 'UInt16', description: 'Status of the response.' },
      ],
    },
  ],
  parameters: [{ name: 'project', type: 'string' }, { name: 'now' }],
};

/** Completions at `|`. */
function at(text: string, words = WORDS) {
  const position = text.indexOf('|');
  const { from, options } = suggest(text.replace('|', ''), position, words);
  return { word: text.slice(from, position), labels: options.map(({ label }) => label), options };
}

describe('completion of SQL', () => {
  test('offers parameters, with their @, after an @', () => {
    expect(at('SELECT 1 WHERE project = @pr|')).toMatchObject({ word: '@pr', labels: ['@project', '@now'] });
  });

  test('offers the columns of a table after its name or alias and a dot', () => {
    expect(at('SELECT edge_logs.st| FROM edge_logs')).toMatchObject({
      word: 'st',
      labels: ['id', 'status_code'],
    });
    expect(at('SELECT e.| FROM edge_logs AS e').labels).toEqual(['id', 'status_code']);
    expect(at('SELECT a.| FROM edge_logs e JOIN auth_logs a ON 1').labels).toEqual(['id', 'grant']);
    expect(at('SELECT x.| FROM edge_logs').labels).toEqual([]);
  });
});

test('without what was added it is the one text, without what was removed the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 })
    .map((all) => `${all.join('\n')}\n`);
  const side = (found: ReturnType<typeof diffTexts>, without: string) =>
    found
      .flatMap(({ kind, lines: part }) => (kind === without ? [] : part.map((line) => `${line}\n`)))
      .join('');
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = diffTexts(before, after);
      if (before === after) return;
      expect([side(found, 'added'), side(found, 'removed')]).toEqual([before, after]);
    }),
    runs(300),
  );
});

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
});
