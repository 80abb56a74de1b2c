import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

/** File → the files that it imports, types included. */
const imports = new Map(
  files.map((file) => {
    const text = readFileSync(join('src', file), 'utf8');
    const paths = [...text.matchAll(/(?:from|import\() ?'(\.[^']+\.ts)'/g)].map(([, path = '']) => path);
    return [file, paths.map((path) => join(dirname(file), path))];
  }),
);

/** Returns the packages that a file loads at once, by itself or by what it imports. */
function findPackages(entry: string): string[] {
  const loaded = new Set<string>();
  function load(file: string): void {
    if (loaded.has(file)) return;
    loaded.add(file);
    if (!file.endsWith('.ts')) return;
    const text = readFileSync(join('src', file), 'utf8');
    for (const [, path = ''] of text.matchAll(/^import (?!type )[^;]*?from '([^']+)'/gm))
      if (!path.startsWith('node:')) load(path.startsWith('.') ? join(dirname(file), path) : path);
  }
  load(entry);
  return [...loaded].filter((file) => !file.endsWith('.ts')).toSorted();
}

test('a start loads only the packages that every service uses', () => {
  expect(findPackages('engine/process/main.ts')).toEqual(['chdb']);
  const ofService = 'ajv commander fastify lru-cache pino typebox uuid yaml';
  const ofFastify = '@fastify/accepts @fastify/cors @fastify/proxy-addr @fastify/static';
  expect(findPackages('cli/commands/serve.ts')).toEqual(`${ofFastify} ${ofService}`.split(' '));
});

/** Folders and files of src/, in the order of the tree in contributing/architecture.md. */
const [, tree = '', text = ''] = readFileSync('contributing/architecture.md', 'utf8').split('\n```\n');
const rooms = tree
  .split('\n')
  .filter((line) => /^ {2}\S/.test(line))
  .flatMap((line) => line.slice(2).split(/[ /]/, 1));
const roomOf = (file: string) => file.split('/', 1)[0] ?? '';

test('every folder of src/ is a line of the tree in contributing/architecture.md', () => {
  expect([...new Set(files.map(roomOf))].toSorted()).toEqual(rooms?.toSorted());
});

test('every file that the text below that tree names is there', () => {
  const named = [...text.matchAll(/[\w/-]+\.ts\b/g)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(join('src', path)) && !existsSync(path))).toEqual([]);
});

const ROOTS = ['src', 'console/src', 'test', 'trial', 'scripts'];

test('every file that a comment names is there', () => {
  const list = (root: string) => readdirSync(root, { recursive: true, encoding: 'utf8' });
  const sources = ROOTS.flatMap((root) => list(root).map((file) => join(root, file))).filter(
    (file) => /\.tsx?$/.test(file) && !file.includes('node_modules'),
  );
  const named = sources.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const comments = lines.filter((line) => /^\s*(?:\/?\*|\/\/)/.test(line)).join('\n');
    return [...comments.matchAll(/(?<![\w/.])[\w-][\w/-]*\.tsx?\b/g)].map(([name]) => ({ file, name }));
  });
  expect(named.length).toBeGreaterThan(50);
  const wrong = named.filter(({ name }) => !sources.some((file) => `/${file}`.endsWith(`/${name}`)));
  expect(wrong).toEqual([]);
});

test('imports point up that tree', () => {
  const down = files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter((path) => (rooms ?? []).indexOf(roomOf(path)) > (rooms ?? []).indexOf(roomOf(file)))
      .map((path) => `${file} imports ${path}`),
  );
  expect(down).toEqual([]);
});

test('no line is longer than 125 columns', () => {
  const long = files.filter((file) => /.{126}/.test(readFileSync(join('src', file), 'utf8')));
  expect(long).toEqual([]);
});
