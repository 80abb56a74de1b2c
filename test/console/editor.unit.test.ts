import { applyPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withColumns, withName } from '../../console/src/page/workbench/definition.ts';
import { suggest, type Vocabulary } from '../../console/src/ui/editor/completion.ts';
import { diffTexts } from '../../console/src/ui/text-diff.tsx';
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

test('completion of SQL offers the columns of a table after its name or alias and a dot', () => {
  const labels = ['id', 'status_code'];
  expect(at('SELECT edge_logs.st| FROM edge_logs')).toMatchObject({ word: 'st', labels });
  expect(at('SELECT e.| FROM edge_logs AS e').labels).toEqual(['id', 'status_code']);
  expect(at('SELECT a.| FROM edge_logs e JOIN auth_logs a ON 1').labels).toEqual(['id', 'grant']);
  expect(at('SELECT x.| FROM edge_logs').labels).toEqual([]);
});

test('what is shown of two texts leads from the one to the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 })
    .map((all) => `${all.join('\n')}\n`);
  fc.assert(
    fc.property(text, text, (before, after) => {
      const hunks = diffTexts(before, after) ?? [];
      const names = { oldFileName: '', newFileName: '', oldHeader: '', newHeader: '', isGit: false as const };
      expect(applyPatch(before, { ...names, hunks })).toBe(after);
      expect(hunks.length === 0).toBe(before === after);
    }),
    runs(300),
  );
});

test('a definition gets other columns, or another name, and nothing else of it changes', () => {
  const rest = 'description: |\n  Text.\n\n  # text\n# a comment\ncaching: disabled\n';
  const before = `id: x\nname: a.b # its name\ncolumns:\n  n: { type: integer, description: N. }\n# inner\n\n  m:\n    type: string\n\n${rest}`;
  const columns = ['n', 'size'].map((name) => ({ name, type: 'integer' as const }));
  const expected =
    'columns:\n  n: { type: integer, description: N. }\n  size: { type: integer, description: Size. }\n';
  expect(withColumns(before, columns, [])).toBe(`id: x\nname: a.b # its name\n${expected}\n${rest}`);
  expect(withColumns(rest, columns, [])).toBe(`${rest}${expected}`);
  expect(withName(before, 'c', true)).toBe(before.replace('id: x\nname: a.b # its name', 'name: c'));
});
