import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderPages } from '../scripts/docs/pages.ts';
import { createProgram } from '../src/cli/main.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { ERROR_CODES } from '../src/errors.ts';

const pages = await renderPages();
const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.md'),
);
const texts = new Map(
  ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.map((name) => join('docs', name))].map((path) => [
    path,
    readFileSync(path, 'utf8'),
  ]),
);
const all = [...texts.values()].join('\n');

test.each([...pages])('%s is what `npm run docs` makes of the code', (path, text) => {
  expect(texts.get(path)).toBe(text);
});

test('there is no page for an endpoint that does not exist', () => {
  const made = [...pages.keys()].filter((path) => path.startsWith('docs/endpoints/'));
  expect(docs.filter((name) => name.startsWith('endpoints/')).map((name) => join('docs', name))).toEqual(
    made.toSorted(),
  );
});

test('every variable that the docs name is a setting', () => {
  const known = Object.values(SETTINGS).flatMap((setting) => [setting.env, ...setting.aliases]);
  const named = new Set(all.match(/\b(TAILRACE|LOGFLARE|CLICKHOUSE)_[A-Z_]+\b/g));
  named.delete('TAILRACE_KEY'); // the caller's own key in the curl examples
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
});

test('every error code that the docs show exists', () => {
  const shown = [...all.matchAll(/"code":\s?"(\w+)"/g)].map((match) => match[1]);
  expect(shown.filter((code) => !Object.hasOwn(ERROR_CODES, code ?? ''))).toEqual([]);
});

test('every command that the docs call exists', () => {
  const known = createProgram().commands.map((command) => command.name());
  const called = [...all.matchAll(/npx tailrace ([a-z]+)/g)].map((match) => match[1]);
  expect(called.length).toBeGreaterThan(5);
  expect(called.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});

describe('the table of docs/security.md', () => {
  const named = [...(texts.get('docs/security.md') ?? '').matchAll(/^\|.*\| `(test\/[^`]+)`: “(.+)” \|$/gm)];

  test('names a test in every line', () => {
    const lines = [...(texts.get('docs/security.md') ?? '').matchAll(/^\| .*\|$/gm)].length;
    expect(named.length).toBeGreaterThan(20);
    expect(named.length).toBe(lines - 2); // its head
  });

  test.each(named.map(([, file = '', title = '']) => [file, title]))('%s has “%s”', (file, title) => {
    expect(readFileSync(file, 'utf8')).toContain(title);
  });
});

describe('links between pages', () => {
  test.each([...texts])('%s has no broken link', (path, text) => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) =>
      join(path, '..', match[1] ?? ''),
    );
    const known = new Set([...texts.keys(), 'LICENSE', 'CHANGELOG.md', 'package.json']);
    const isFile = (target: string) =>
      known.has(target) || /^(endpoints|sources|src|test)\//.test(target) || existsSync(target);
    expect(targets.filter((target) => !isFile(target))).toEqual([]);
  });
});

test('the README stays under 100 lines', () => {
  expect((texts.get('README.md') ?? '').split('\n').length).toBeLessThan(100);
});
