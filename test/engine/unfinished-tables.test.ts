import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasUnfinishedTables, removeUnfinishedTables } from '../../src/engine/embedded/unfinished-tables.ts';
import { temporaryFolder } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder.path, 'store/metadata/tailrace'), { recursive: true });
  await mkdir(join(folder.path, 'store/data/tailrace'), { recursive: true });
  await writeFile(join(folder.path, 'store/metadata/tailrace.sql'), 'ATTACH DATABASE\n');
});
afterEach(() => folder.remove());

/** The files of a table as the engine lays them out. */
async function createTable(
  name: string,
  {
    definition = 'ATTACH TABLE _ (`id` String)\n',
    version = '1',
    part = '',
  }: { definition?: string; version?: string; part?: string },
) {
  const dir = join(folder.path, 'store/store/1ab', name);
  const file = join(folder.path, `store/metadata/tailrace/${name}.sql`);
  await mkdir(join(dir, 'detached'), { recursive: true });
  await mkdir(join(dir, part), { recursive: true });
  await writeFile(join(dir, 'format_version.txt'), version);
  await writeFile(file, definition);
  await symlink(dir, join(folder.path, 'store/data/tailrace', name));
  return () => [file, dir].map((path) => existsSync(path));
}

test('tables that a full disk left unfinished are removed, and no others', async () => {
  const whole = await createTable('whole', { part: '20261120_1_1_0' });
  const empty = await createTable('empty', {});
  expect(hasUnfinishedTables(folder.path)).toBe(false);
  const undefinedOne = await createTable('undefined_one', { definition: '' });
  const cutOff = await createTable('cut_off', { definition: 'ATTACH TABLE _ (`id`\n `time' });
  const unversioned = await createTable('unversioned', { version: '' });
  expect(hasUnfinishedTables(folder.path)).toBe(true);
  removeUnfinishedTables(folder.path);
  expect([whole(), empty(), undefinedOne(), cutOff(), unversioned()]).toEqual([
    [true, true],
    [true, true],
    [false, false],
    [false, false],
    [false, false],
  ]);
  expect(hasUnfinishedTables(folder.path)).toBe(false);
});

test('a table with events is never removed', async () => {
  const damaged = await createTable('damaged', { definition: '', part: '20261120_1_1_0' });
  const unfinished = await createTable('unfinished', { definition: '' });
  expect(() => removeUnfinishedTables(folder.path)).toThrow('definition of table damaged in');
  expect([damaged(), unfinished()]).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('a database without its own definition is removed, unless one of its tables is whole', async () => {
  const database = join(folder.path, 'store/metadata/tailrace.sql');
  await writeFile(database, '');
  await createTable('unfinished', { definition: '' });
  removeUnfinishedTables(folder.path);
  expect(existsSync(database)).toBe(false);
  await mkdir(join(folder.path, 'store/metadata/tailrace'), { recursive: true });
  await writeFile(database, '');
  await createTable('whole', {});
  expect(() => removeUnfinishedTables(folder.path)).toThrow('definition of table tailrace in');
});

test('a data directory without a store has none', async () => {
  expect(hasUnfinishedTables(join(folder.path, 'missing'))).toBe(false);
});
