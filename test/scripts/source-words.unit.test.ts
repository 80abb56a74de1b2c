import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProse } from './source-prose.ts';
import { findWords } from './words.ts';

test('finds the comments and the texts of a program, each on its line', () => {
  const code = [
    "import { refused } from './refused.ts';",
    'const refused = 1; // it is no number',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is code
    "const seldom = /seldom '/.test(line) ? 'refused' : `${refused} was seldom`;",
    '/** Of a name. */',
  ].join('\n');
  expect(findWords(findProse(code)).map((found) => found.split('": ', 1)[0])).toEqual([
    'line 2: "is no number',
    'line 3: "seldom',
    'line 4: "/** Of',
  ]);
});

test.each([
  ['src', '.ts'],
  ['bin', '.js'],
  ['console/src', '.tsx'],
  ['console/src', '.ts'],
])('the comments and messages of %s/**/*%s avoid the forms of words.ts', (folder, extension) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith(extension),
  );
  const found = files.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return findWords(findProse(text)).map((word) => `${folder}/${file} ${word}`);
  });
  expect(found).toEqual([]);
});
