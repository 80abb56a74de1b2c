import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Of README.md and docs/*.md, as `wc -w` counts them. Say a fact once and link to it before this grows. */
const WORDS_MAX = 20_000;
const COLUMNS_MAX = 150;

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'contributing/*.md', 'docs/**/*.md'];
const pages = globSync(PAGES).toSorted();
const read = (path: string) => readFileSync(path, 'utf8');

test('the README and the pages of docs/ are short enough to be read', () => {
  const texts = globSync(['README.md', 'docs/*.md']).map(read);
  const words = texts.flatMap((text) => text.split(/\s+/).filter((word) => word !== ''));
  expect(words.length).toBeLessThanOrEqual(WORDS_MAX);
});

// A row of a table cannot be wrapped.
test.each(pages)(`%s has no line of more than ${COLUMNS_MAX} characters, except in tables`, (path) => {
  const long = read(path)
    .split('\n')
    .filter((line) => line.length > COLUMNS_MAX && !line.startsWith('|'));
  expect(long).toEqual([]);
});

// Comments may have them.
const STUMBLED_OVER =
  /(?:be|expected: ['`]) ?a text\b|column \$\{\w+\} on\b|\bhas a fault\b|fainter|>The shell|whole number of \$|\} last`/;

test('messages of the service and the console are in plain English', () => {
  const lines = globSync('{src,console/src}/**/*.{ts,tsx}')
    .flatMap((path) => read(path).split('\n'))
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line));
  expect(lines.filter((line) => STUMBLED_OVER.test(line))).toEqual([]);
});
