import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findBelow, OutsideError } from '../../src/lib/file.ts';
import { hostileName } from '../support/hostile-name.ts';
import { runs } from '../support/property.ts';
import { ownFolder } from '../support/service.ts';

const root = await ownFolder();
const folder = join(root.path, 'folder');
await mkdir(join(folder, 'inner'), { recursive: true });
await mkdir(join(root.path, 'folder-beside'));
await mkdir(join(root.path, 'outside'));
await writeFile(join(root.path, 'outside', 'kept'), 'kept');
await writeFile(join(folder, 'file'), 'file');
const links = {
  link: join(root.path, 'outside'),
  up: '..',
  beside: '../folder-beside',
  dangling: join(root.path, 'nothing'),
  itself: '.',
  inside: 'inner',
  'inner/back': '../../outside',
};
for (const [name, target] of Object.entries(links)) await symlink(target, join(folder, name));

test.each(['a', 'a/b', 'inner/x.yaml', '..a', 'a..', '...', 'inside/x', 'file', 'ünï', 'a b', 'inner'])(
  'a file %j is below its folder',
  async (name) => expect(await findBelow(folder, name)).toBe(join(folder, name)),
);

test.each([
  ...'. .. ../x a/../x a/../../x /tmp/x a//b a/ ./a a\\..\\x'.split(' '),
  ...['', 'a\0', 'a\n/../../x', '\ud800'],
  ...'link link/x up/outside/x beside/x dangling dangling/x inner/back/x inside/back itself'.split(' '),
])('a file %j is rejected', async (name) => expect(findBelow(folder, name)).rejects.toThrow(OutsideError));

test('of 10,000 hostile names none writes outside of the folder', async () => {
  // With types: otherwise it would follow the links in circles.
  const outside = async () =>
    (await readdir(root.path, { recursive: true, withFileTypes: true }))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(`${folder}/`));
  const before = await outside();
  let written = 0;
  await fc.assert(
    fc.asyncProperty(hostileName, async (name) => {
      const path = await findBelow(folder, name).catch((error: NodeJS.ErrnoException) => {
        const isNone = ['ENAMETOOLONG', 'ENOTDIR'].includes(error.code ?? '');
        if (isNone || error instanceof OutsideError) return undefined;
        throw error;
      });
      if (path === undefined) return;
      // Some name a folder, or lie below a file: what counts is that nothing is written elsewhere.
      await mkdir(dirname(path), { recursive: true }).catch(() => {});
      await writeFile(path, 'hostile').then(
        () => written++,
        () => {},
      );
    }),
    runs(10_000),
  );
  expect(await outside()).toEqual(before);
  expect(await readFile(join(root.path, 'outside', 'kept'), 'utf8')).toBe('kept');
  expect(await readdir(join(root.path, 'folder-beside'))).toEqual([]);
  expect(written).toBeGreaterThan(0);
});
