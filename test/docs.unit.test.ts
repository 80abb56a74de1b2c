import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderPages } from '../scripts/docs/pages.ts';
import { createProgram } from '../src/cli/main.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { ERROR_CODES } from '../src/errors.ts';

const pages = await renderPages();
const docs = globSync('docs/**/*.md');
const paths = globSync([
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'contributing/*.md',
  'docs/*.txt',
  'schema/*',
]);
const texts = new Map([...paths, ...docs].map((path) => [path, readFileSync(path, 'utf8')]));
const all = [...texts.values()].join('\n');

test.each([...pages])('%s is what `npm run docs` generates', (path, text) => {
  expect(texts.get(path)).toBe(text);
});

test('there is no page for an endpoint that does not exist', () => {
  const made = [...pages.keys()].filter((path) => path.startsWith('docs/endpoints/'));
  const there = docs.filter((path) => path.startsWith('docs/endpoints/'));
  expect(there.toSorted()).toEqual(made.toSorted());
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

test('every command that the docs call exists', async () => {
  const known = (await createProgram()).commands.map((command) => command.name());
  const called = [...all.matchAll(/npx tailrace ([a-z]+)/g)].map((match) => match[1]);
  expect(called).toEqual(expect.arrayContaining(['check', 'keys', 'load', 'query', 'serve']));
  expect(called.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});

test('every call of a shipped endpoint that the docs show sends what the endpoint requires', () => {
  const calls = [...all.matchAll(/endpoints\/query\/([\w.-]+)\?([^\s"'`]+)/g)];
  const left = calls.flatMap(([, name = '', query = '']) => {
    const file = join('endpoints', name, 'endpoint.yaml');
    if (!existsSync(file)) return [];
    // A definition as `check` accepts it.
    type Definition = { parameters: Record<string, { required?: true }> };
    const { parameters } = parse(readFileSync(file, 'utf8')) as Definition;
    const sent = new URLSearchParams(query);
    const missing = Object.keys(parameters).filter((one) => parameters[one]?.required && !sent.has(one));
    return missing.map((one) => `${name}?${query}: ${one}`);
  });
  expect(calls.length).toBeGreaterThan(5);
  expect(left).toEqual([]);
});

const OF_CHECKOUT = /^(?:\.github|bench|console|node_modules|scripts|src|test|trial)\//;

describe('links', () => {
  const linked = new Map([
    ...texts,
    ...['CHANGELOG.md', 'bench/NOTES.md'].map((path) => [path, readFileSync(path, 'utf8')] as const),
  ]);

  test.each([...linked])('%s has none to a file or heading that does not exist', (path, text) => {
    expect(findBrokenLinks(path, text)).toEqual([]);
  });

  // As `npm pack --dry-run` lists them.
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  const paths = files.flatMap((pattern) => globSync([pattern, `${pattern}/**`]));
  const packed = new Set([...paths, 'LICENSE', 'README.md', 'package.json']);

  test('of the package lead to files of the package', () => {
    const pages = [...packed].filter((path) => /\.(?:md|txt)$/.test(path));
    expect(pages.length).toBeGreaterThan(docs.length);
    const left = pages.flatMap((path) =>
      linksOf(readFileSync(path, 'utf8'))
        .map((link) => join(path, '..', link.split('#')[0] ?? ''))
        .filter((target) => target !== join(path, '..') && !packed.has(target))
        .map((target) => `${path}: ${target}`),
    );
    expect(left).toEqual([]);
    // Beside what is packed, operators keep secrets.
    expect([...packed].filter((path) => /(?:^|\/)(?:\.env|secrets\.env)$/.test(path))).toEqual([]);
  });

  test('of its texts to a path in node_modules/tailrace or this checkout are to files of the package', () => {
    const texts = [...packed].filter((path) => /\.(?:md|ya?ml|sh|txt|conf|service|example)$/.test(path));
    const named = texts.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/(?:\.?[\w-][\w.-]*\/)+(?:[\w.-]*[\w-])?/g)]
        .map(([name]) => name.split(/(?:^|\/)node_modules\/tailrace\//))
        // Without node_modules: what a checkout has, too, apart from what only contributors need.
        .filter(([name = '', inPackage]) => inPackage ?? (existsSync(name) && !OF_CHECKOUT.test(name)))
        .map(([name = '', inPackage = name]) => ({ path, name: inPackage.replace(/\/$/, '') })),
    );
    expect(named.length).toBeGreaterThan(50);
    const isPacked = (name: string) => packed.has(name) || paths.some((one) => one.startsWith(`${name}/`));
    expect(named.filter(({ name }) => !isPacked(name))).toEqual([]);
  });

  test('to a missing file or heading are found', () => {
    const text = '[a](keys.md) [b](keys.md#what-a-key-carries) [c](nokeys.md) [d](keys.md#no) [e](#f)\n# E\n';
    expect(findBrokenLinks('docs/page.md', text)).toEqual(['nokeys.md', 'keys.md#no', '#f']);
  });

  function findBrokenLinks(path: string, text: string): string[] {
    return linksOf(text).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(path, '..', file);
      if (file !== '' && !existsSync(target)) return true;
      if (anchor === undefined) return false;
      return !headingsOf(file === '' ? text : readFileSync(target, 'utf8')).includes(anchor);
    });
  }
});

describe('anchors', () => {
  test('are there for every setting', () => {
    const settings = Object.values(SETTINGS).map(({ env }) => `docs/settings.md#${env.toLowerCase()}`);
    expect(settings.filter((place) => !existsAt(place))).toEqual([]);
  });

  test('and pages that code, messages and configurations name are there', () => {
    const files = globSync(
      '{bench,console/src,deploy,endpoints,scripts,sources,src,studio,template,test,trial}/**/*',
      { exclude: (path) => path.includes('node_modules') },
    ).filter((path) => /\.(?:tsx?|js|ya?ml|sql|md|sh|conf|service|env|example)$/.test(path));
    const left = files.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\bdocs\/[a-z][\w./-]*\.md(?:#[\w-]+)?/g)]
        .map(([place]) => place)
        .filter((place) => !existsAt(place) && place !== 'docs/page.md') // docs/page.md: of this file
        .map((place) => `${path}: ${place}`),
    );
    expect(left).toEqual([]);
  });

  function existsAt(place: string): boolean {
    const [path = '', anchor] = place.split('#');
    const text = texts.get(path);
    return text !== undefined && (anchor === undefined || headingsOf(text).includes(anchor));
  }
});

/** What a page links to, apart from other sites. */
function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
}

/** The anchors of a page's headings, as GitHub forms them. */
function headingsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the README begins with commands that work in a clone, then has a project of one’s own, then what needs a release', () => {
  const text = texts.get('README.md') ?? '';
  const blocks = [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks[0]?.match(/^\S+ \S+/gm)).toEqual(['npm start', 'npm test']);
  const at = (part: string) => text.indexOf(part);
  expect(at('npm start')).toBeLessThan(at('npm run init'));
  expect(at('npm run init')).toBeLessThan(at('From the first release on npm, `npx tailrace init'));
});

test('the README stays under 100 lines', () => {
  expect((texts.get('README.md') ?? '').split('\n').length).toBeLessThan(100);
});
