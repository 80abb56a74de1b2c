import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import {
  findStoreVersion,
  STORE_VERSION,
  type Upgrade,
  upgradeStore,
  writeStoreVersion,
} from '../../src/engine/store-version.ts';
import { openCore } from '../../src/service/open-core.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a store of a newer version is refused before the engine touches it', async () => {
  const dir = join(folder.path, 'newer');
  await mkdir(join(dir, 'store'), { recursive: true });
  writeStoreVersion(dir, STORE_VERSION + 1);
  await expect(openCore(testConfig(dir), 'a test')).rejects.toThrow(
    /event store in .* is of version \d+, newer than this Tailrace .* reads \(\d+\); update Tailrace/,
  );
  expect(await readdir(join(dir, 'store'))).toEqual([]);
});

test('a new store is of the present version, one without a file of the first; a damaged file is refused', async () => {
  const dir = join(folder.path, 'new');
  await mkdir(dir);
  expect(findStoreVersion(dir, 7)).toBe(7);
  await mkdir(join(dir, 'store'));
  expect(findStoreVersion(dir, 7)).toBe(1);
  for (const text of ['', '{}', '{"store":"x"}', '{"store":0}']) {
    await writeFile(join(dir, 'store-version.json'), text);
    expect(() => findStoreVersion(dir)).toThrow(/store-version\.json cannot be read/);
  }
});

test('an upgrade runs the steps that a store lacks, in order', async () => {
  const taken: number[] = [];
  const upgrades: Upgrade[] = [2, 3, 4].map((to) => async () => void taken.push(to));
  for (const from of [2, 4, 1]) await upgradeStore({} as Engine, { from, sources: [] }, upgrades);
  expect(taken).toEqual([3, 4, 2, 3, 4]);
});
