import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasUnfinishedTables, removeUnfinishedTables } from '../../src/engine/embedded/unfinished-tables.ts';
import { temporaryFolder } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  for (const kind of ['metadata', 'data'])
    await mkdir(join(folder.path, `store/${kind}/tailrace`), { recursive: true });
  await writeFile(join(folder.path, 'store/metadata/tailrace.sql'), 'ATTACH DATABASE\n');
});
afterEach(() => folder.remove());

/** The files of a table as the engine lays them out. @returns whether all of them are there */
async function createTable(name: string, { definition = 'ATTACH TABLE _ (`id` String)\n', part = '' }) {
  const dir = join(folder.path, 'store/store/1ab', name);
  const file = join(folder.path, `store/metadata/tailrace/${name}.sql`);
  await mkdir(join(dir, part), { recursive: true });
  await writeFile(join(dir, 'format_version.txt'), '1');
  await writeFile(file, definition);
  await symlink(dir, join(folder.path, 'store/data/tailrace', name));
  return () => existsSync(file) && existsSync(dir);
}

test('tables that a full disk left unfinished are removed, and no others', async () => {
  const whole = [await createTable('whole', { part: '20261120_1_1_0' }), await createTable('empty', {})];
  expect(hasUnfinishedTables(folder.path)).toBe(false);
  const unfinished = await createTable('cut_off', { definition: 'ATTACH TABLE _ (`id`\n `time' });
  expect(hasUnfinishedTables(folder.path)).toBe(true);
  removeUnfinishedTables(folder.path);
  expect([...whole, unfinished].map((isThere) => isThere())).toEqual([true, true, false]);
});

test('a table with events is never removed', async () => {
  const damaged = await createTable('damaged', { definition: '', part: '20261120_1_1_0' });
  expect(() => removeUnfinishedTables(folder.path)).toThrow('definition of table damaged in');
  expect(damaged()).toBe(true);
});
