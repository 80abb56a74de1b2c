import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../src/definitions/yaml-file.ts';
import { readDraft } from '../../src/workbench/draft.ts';

const read = (text: string) => readDraft({ definition: text, sql: 'SELECT 1' }, [], '').faults;
const DEEP = 'is nested more than 64 levels deep; usual definitions have at most 6';
const indented = (levels: number) =>
  Array.from({ length: levels }, (_, i) => `${' '.repeat(i)}a:\n`).join('');

describe('a definition', () => {
  test.each([
    ['lists in brackets', '['.repeat(65_000)],
    ['both by turns', '{a: ['.repeat(13_000)],
    ['values of values in braces', `{${'a: '.repeat(2_000)}`],
    ['indented lines', indented(300)],
  ])('that nests %s is refused before it is parsed', (_, text) => {
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

  test('of the workbench has at most 4,000 words and signs; the place is that of the next', () => {
    const [fault, ...others] = read('- [1, 2]\n'.repeat(1_000));
    expect(others).toEqual([]);
    expect(fault?.message).toBe('has more than 4000 words and signs; usual definitions have a few hundred');
    expect(fault?.line).toBeGreaterThan(500);
  });

  test('that is an endless value, a list in itself, is refused', () => {
    const message = '*c is inside its own anchor &c; remove the alias';
    expect(read('columns: &c [*c]')).toEqual([expect.objectContaining({ message, line: 1, column: 14 })]);
  });

  test('keeps each key of a map once, also of a map in another', () => {
    const twice = parseYaml('x.yaml', 'a:\n  b: 1\n  c: 2\n  b: 3\n');
    expect(twice).toEqual([{ file: 'x.yaml', line: 4, column: 3, message: 'Map keys must be unique' }]);
    expect(parseYaml('x.yaml', 'a: &a {b: 1}\nc: {<<: *a, d: 2}\n')).toMatchObject({
      value: { c: { b: 1, d: 2 } },
    });
  });
});
