import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

describe('the rows of the threat model in docs/security.md', () => {
  const rows = [...readFileSync('docs/security.md', 'utf8').matchAll(/^\| (\d+) \| ([^|]+) \|/gm)];
  const sections = readFileSync('test/evidence.md', 'utf8').split(/^## /m).slice(1);
  const items = sections.map((section) => section.split(/^- /m).slice(1));
  const named = items.flat().flatMap((item) => [...item.matchAll(/:\s+`(test\/[^`]+)` “(.+)”\s*$/g)]);

  test('each have a section of test/evidence.md', () => {
    const shown = rows.map(([, number, who]) => `${number}. ${who}`);
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(shown);
    expect(shown.length).toBeGreaterThan(15);
  });

  test('have only items that name a test, at least one each', () => {
    expect(items.map(({ length }) => length)).not.toContain(0);
    expect(named).toHaveLength(items.flat().length);
  });

  test.each(named.map(([, file = '', title = '']) => [file, title]))('%s has a test “%s”', (file, title) => {
    expect(titlesOf(readFileSync(file, 'utf8')).filter((one) => one.includes(title))).toHaveLength(1);
  });

  test('takes no title for a test that is in a comment, of a group, skipped or yet to be written', () => {
    const text = `// test('a', () => {});
      describe('b', () => {
        test.skip('c', () => {});
        test.todo('d');
        test('e', async () => {});
        test.each([1])(\`f \${x}\`, { tags: 'slow' }, (one) => {});
        test.skipIf(isAway)(
          'g',
          async () => {});
      });`;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written
    expect(titlesOf(text)).toEqual(['e', 'f ${x}', 'g']);
  });
});

/** Titles of the tests that a file runs: first arguments before a function, of calls that are not `describe`, `skip` or `todo`. */
function titlesOf(text: string): string[] {
  const code = text.replaceAll(/^\s*\/\/.*$/gm, '');
  const calls = /(?<!\b(?:describe|skip|todo))\(\s*(['"`])(.+)\1,\s*(?:\{[^}]*\},\s*)?(?:async )?\(/g;
  return [...code.matchAll(calls)].map(([, , title = '']) => title);
}
