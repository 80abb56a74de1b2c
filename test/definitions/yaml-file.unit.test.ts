import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/definitions/yaml-file.ts';
import { readDraft } from '../../src/workbench/draft.ts';

const read = (text: string) => readDraft({ definition: text, sql: 'SELECT 1' }, []).faults;
const DEEP = 'is nested more than 64 levels deep; usual definitions have at most 6';
const indented = (levels: number) =>
  Array.from({ length: levels }, (_, i) => `${' '.repeat(i)}a:\n`).join('');

describe('a definition', () => {
  test.each([
    ['lists in brackets', '['.repeat(65_000)],
    ['values of values in braces', `{${'a: '.repeat(2_000)}`],
    ['indented lines', indented(300)],
  ])('that nests %s is rejected before it is parsed', (_, text) => {
    expect(read(text)).toEqual([expect.objectContaining({ message: DEEP, column: expect.any(Number) })]);
  });

  test('may be nested 64 levels deep, and its texts and comments may hold any signs', () => {
    const nested = `${'['.repeat(62)}${']'.repeat(62)}`;
    expect(parseYaml('x.yaml', `a: ${nested}\n`)).toMatchObject({ value: { a: expect.any(Array) } });
    const signs = '[{- ? : '.repeat(500);
    const texts = `# ${signs}\na: "${signs}"\nb: '${signs}'\nc: |\n  ${signs}\n`;
    expect(parseYaml('x.yaml', texts)).toMatchObject({ value: { a: signs, c: `${signs}\n` } });
    expect(parseYaml('x.yaml', "- '['\n- '-'\n".repeat(300))).toMatchObject({ value: expect.any(Array) });
  });

  test('that has a name twice is rejected, at the second', () => {
    const message = '"caching" is there twice; remove one, or rename it';
    const fault = expect.objectContaining({ message, line: 3, column: 1 });
    expect(read('caching: 1\nname: a.b\ncaching: 2\n')).toEqual([fault]);
  });

  test('that is an endless value, a list in itself, is rejected', () => {
    const message = '*c is inside its own anchor &c; remove the alias';
    expect(read('columns: &c [*c]')).toEqual([expect.objectContaining({ message, line: 1, column: 14 })]);
  });
});

test.each(['0123', '12345678901234567891', '1e3', 'true'])(
  'a name %s without quotes is that text',
  (name) => {
    const text = `projects:\n  ${name}: { events: 1 }\n`;
    expect(parseYaml('quotas.yaml', text)).toMatchObject({ value: { projects: { [name]: { events: 1 } } } });
  },
);
