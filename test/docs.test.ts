import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderPages } from '../scripts/docs/pages.ts';
import { createProgram } from '../src/cli/main.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { ERROR_CODES } from '../src/errors.ts';
import { ALLOWED_METHODS } from '../src/http/routes/index.ts';

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
  expect(called).toEqual(expect.arrayContaining(['check', 'keys', 'load', 'query', 'serve']));
  expect(called.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});

test('docs/api.md lists every path with its methods, and no other', () => {
  const rows = [...(texts.get('docs/api.md') ?? '').matchAll(/^\| +(`\/.*?) +\| +([A-Z, ]+?) +\|/gm)];
  const listed = rows.flatMap(([, cell = '', methods = '']) => {
    const paths = [...cell.matchAll(/`(\/[^`]*)`/g)].map((match) => match[1] ?? '');
    // "each also with `/json` and `/vector`"
    const [named, suffixes] = cell.includes('each also with')
      ? [paths.slice(0, -2), paths.slice(-2)]
      : [paths, []];
    const all = named.flatMap((path) => [path, ...suffixes.map((suffix) => path + suffix)]);
    return all.map((path) => [toRoute(path), methods]);
  });
  const routes = Object.entries(ALLOWED_METHODS).map(([path, methods]) => [path, methods.join(', ')]);
  expect(listed.toSorted()).toEqual(routes.toSorted());
});

/** A path of the table as the router has it. */
function toRoute(path: string): string {
  return path
    .replace('<uuid or name>', ':endpoint')
    .replace('<name>', ':source')
    .replace('<id>', ':id')
    .replace('<file>', '*');
}

describe('the table of docs/security.md', () => {
  const named = [...(texts.get('docs/security.md') ?? '').matchAll(/^\|.*\| `(test\/[^`]+)`: “(.+)” \|$/gm)];

  test('names a test in every line', () => {
    const lines = [...(texts.get('docs/security.md') ?? '').matchAll(/^\| .*\|$/gm)].length;
    expect(named.length).toBeGreaterThan(20);
    expect(named.length).toBe(lines - 2); // its head
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

describe('links between pages', () => {
  test.each([...texts])('%s has no broken link', (path, text) => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) =>
      join(path, '..', match[1] ?? ''),
    );
    expect(targets.filter((target) => !existsSync(target))).toEqual([]);
  });
});

test('the README stays under 100 lines', () => {
  expect((texts.get('README.md') ?? '').split('\n').length).toBeLessThan(100);
});
