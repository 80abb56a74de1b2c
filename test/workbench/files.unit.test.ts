import { chmod, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { endpointPaths, readTexts, writeEndpoint } from '../../src/workbench/files.ts';
import { ownFolder } from '../support/service.ts';

const root = await ownFolder();
const OLD = ['old: 1\n', 'SELECT 1\n'] as const;
const NEW = ['new: 1\n', 'SELECT 2\n'];
let count = 0;
let folder = '';
beforeEach(async () => {
  folder = join(root.path, `folder-${++count}`, 'endpoint');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'endpoint.yaml'), OLD[0]);
  await writeFile(join(folder, 'query.sql'), OLD[1]);
});

const textsOf = (dir: string) => readTexts(endpointPaths(dir));

const writeNew = (dir: string, options?: { readonly rename?: typeof rename }) =>
  writeEndpoint(
    dir,
    endpointPaths(dir).map((path, i) => [path, NEW[i] ?? ''] as const),
    options,
  );

/** A rename that fails at the call of this number. */
function failAt(call: number, code = 'EIO'): typeof rename {
  let calls = 0;
  return async (from, to) => {
    if (++calls === call) throw Object.assign(new Error('no rename'), { code });
    await rename(from, to);
  };
}

test.each([1, 2])('both files are the old ones if rename %i fails, and nothing is left', async (call) => {
  await expect(writeNew(folder, { rename: failAt(call) })).rejects.toThrow('no rename');
  expect(await textsOf(folder)).toEqual(OLD);
  expect(await readdir(folder)).toEqual(['endpoint.yaml', 'query.sql']);
});

test('a new folder appears with both files or not at all', async () => {
  const fresh = `${folder}-new`;
  await expect(writeNew(fresh, { rename: failAt(1) })).rejects.toThrow('no rename');
  expect(await readdir(join(fresh, '..'))).toEqual(['endpoint']);
  const seen: string[] = [];
  const takeBack = await writeNew(fresh, {
    rename: async (from, to) => {
      seen.push(...(await readdir(from)));
      await rename(from, to);
    },
  });
  expect(seen).toEqual(['endpoint.yaml', 'query.sql']);
  expect(await textsOf(fresh)).toEqual(NEW);
  await takeBack();
  expect(await textsOf(fresh)).toBeUndefined();
});

test('a save can be taken back, and keeps the rights of the files', async () => {
  await chmod(join(folder, 'query.sql'), 0o640);
  const takeBack = await writeNew(folder);
  expect(await textsOf(folder)).toEqual(NEW);
  expect((await stat(join(folder, 'query.sql'))).mode & 0o777).toBe(0o640);
  await takeBack();
  expect(await textsOf(folder)).toEqual(OLD);
  expect((await stat(join(folder, 'query.sql'))).mode & 0o777).toBe(0o640);
});
