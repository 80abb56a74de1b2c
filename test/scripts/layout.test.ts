import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const FILES_MAX = 25;
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

test('no file imports itself, however many files are in between', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  function visit(file: string, path: readonly string[]): void {
    const at = path.indexOf(file);
    if (at !== -1) cycles.push([...path.slice(at), file].join(' → '));
    if (at !== -1 || done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  }
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

test(`no folder of src/ has more than ${FILES_MAX} files of its own`, () => {
  const folders = Map.groupBy(files, dirname);
  const large = [...folders].filter(([, own]) => own.length > FILES_MAX).map(([folder]) => folder);
  expect(large).toEqual([]);
});
