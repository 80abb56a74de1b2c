import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import { lockStore } from '../../../src/engine/store-file.ts';
import { createBackup, readManifest } from '../../../src/maintenance/backup.ts';
import { openCore } from '../../../src/service/open-core.ts';
import { expectExit } from '../../support/cli.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { edgeEvents } from '../../support/events.ts';
import { EDGE, rowsOf } from '../../support/http.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder, storeFor } from '../../support/service.ts';

const folder = await ownFolder();
const at = (name: string) => join(folder.path, name);
const definitions = await copyFewDefinitions(folder.path);
const envOf = (name: string) => ({
  ...{ ...definitions, TAILRACE_DATA_DIR: at(name), TAILRACE_BACKUP_DIR: folder.path },
});
const backup = (from: string, ...args: string[]) => runProgram(['backup', ...args], envOf(from));
const restore = (dir: string, to: string) => runProgram(['restore', dir], envOf(to));

/** The events of a data directory, and its keys. */
async function readAll(name: string): Promise<string[]> {
  const core = await openCore(parseConfig(envOf(name)), 'a test');
  const events = await rowsOf(core, 'p1').finally(core.close);
  const keys = await runProgram(['keys', 'list', '--json'], envOf(name));
  expect(keys).toMatchObject({ code: 0, stderr: '' });
  return [JSON.stringify(events), keys.stdout];
}

/** The path in a backup of the first file of that name in a table. */
async function findFile(dir: string, name: string): Promise<string> {
  const paths = await readdir(join(dir, 'events'), { recursive: true });
  return join(dir, 'events', paths.find((path) => path.endsWith(`/${name}`)) ?? '');
}

/** Writes the manifest anew, as somebody does who wants a changed backup to be restored. */
async function writeManifest(dir: string): Promise<void> {
  const { base, ...manifest } = readManifest(dir);
  await rename(dir, `${dir}-data`);
  const writeEvents = (to: string) => cp(join(`${dir}-data`, 'events'), to, { recursive: true });
  await createBackup({ dataDir: `${dir}-data`, dir, base: undefined, writeEvents });
  expect(readManifest(dir)).toMatchObject({ store_version: manifest.store_version });
}

beforeAll(async () => {
  await storeFor(envOf('stored'), EDGE, edgeEvents(300));
  expect((await runProgram(['keys', 'create', '--name', 'reader'], envOf('stored'))).code).toBe(0);
  await mkdir(at('stored/definitions'));
  await writeFile(at('stored/definitions/saved.yaml'), 'x');
  expect(await backup('stored', 'saved')).toMatchObject({ code: 0 });
});

test('a restored backup has every event and every key, and can be written to and backed up again', async () => {
  await mkdir(at('restored/backups'), { recursive: true });
  const restored = await restore('saved', 'restored');
  expectExit(restored, 0, '300 events, and the keys');
  const all = await readAll('restored');
  expect(all).toEqual(await readAll('stored'));
  expect(all[1]).toContain('reader');
  expect(JSON.parse(all[0] ?? '')).toHaveLength(300);
  expect(await readFile(at('restored/definitions/saved.yaml'), 'utf8')).toBe('x');

  await storeFor(envOf('restored'), EDGE, [{ ...edgeEvents(1)[0], id: 'late' }]);
  expect(await backup('restored', 'second', '--base', 'saved')).toMatchObject({ code: 0 });
  const parts = (await readdir(at('second/events/data/tailrace/edge_logs'))).length;
  expect(parts).toBe(1); // the other one is in the base
  // Both may be moved, together.
  await mkdir(at('moved'));
  for (const name of ['saved', 'second']) await cp(at(name), at(`moved/${name}`), { recursive: true });
  const again = await restore('moved/second', 'again');
  expectExit(again, 0, '301 events');
  expect(await readAll('again')).toEqual(await readAll('restored'));
});

describe('what will not do is rejected, and nothing is changed', () => {
  test('as the target of a backup', async () => {
    const rejected = async (...args: string[]) => (await backup('stored', ...args)).stderr;
    expect(await rejected('saved')).toContain('it exists; name a new folder');
    expect(await rejected('new', '--base', 'stored')).toContain('no backup or an unfinished one');
    expect(await rejected('new', '--base', '/elsewhere')).toContain('beside the new backup');
    expect(existsSync(at('new'))).toBe(false);
  });

  test('as the data directory of a restore', async () => {
    const restored = await restore('saved', 'stored');
    expectExit(restored, 1, /is not empty \(.*set TAILRACE_DATA_DIR to an empty folder/);
  });

  const changeList = async (dir: string, name: string) => {
    const file = join(dir, 'events/.backup');
    const added = `<file><name>${name}</name><size>1</size><checksum>1</checksum><data_file>.backup</data_file></file>`;
    await writeFile(file, (await readFile(file, 'utf8')).replace('</contents>', `${added}</contents>`));
  };
  const changeTable = async (dir: string, from: RegExp, to: string) => {
    const file = await findFile(dir, 'edge_logs.sql');
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };

  test.each<[string, (dir: string) => Promise<void>, RegExp]>([
    ['unfinished', (dir) => rm(join(dir, 'manifest.json')), /an unfinished one/],
    ['added to', (dir) => writeFile(join(dir, 'x'), ''), /is damaged: .*x is missing or differs/],
    [
      'damaged',
      async (dir) => {
        const file = await findFile(dir, 'data.bin');
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
        await writeFile(file, bytes);
      },
      /is damaged: .*data\.bin is missing or differs/,
    ],
    ['torn', async (dir) => rm(await findFile(dir, 'data.bin')), /is damaged: .*data\.bin is missing/],
    ['a link', (dir) => symlink('/etc/hosts', join(dir, 'events/x')), /is not a file: no backup has a link/],
    [
      'listed by a link',
      async (dir) => {
        await rename(join(dir, 'manifest.json'), `${dir}.json`);
        await symlink(`${dir}.json`, join(dir, 'manifest.json'));
      },
      /is not a file: no backup has a link/,
    ],
  ])('as a backup that is %s', async (name, spoil, message) => {
    const dir = at(name);
    await cp(at('saved'), dir, { recursive: true });
    await spoil(dir);
    await expectRejected(dir, message);
  });

  const OBJECTS =
    "disk(type = object_storage, object_storage_type = local, metadata_type = local, path = '/tmp/outside')";
  const QUOTED = " /* ' */ SETTINGS disk = disk(type = local) /* ' */, index";
  const outside = (path: string) => (dir: string) => changeList(dir, path);
  const table = (from: RegExp, to: string) => (dir: string) => changeTable(dir, from, to);
  test.each<[what: string, spoil: (dir: string) => Promise<void>, fault: string]>([
    ['a path that leads out', outside('../../outside'), 'outside'],
    ['a path that leads out of a table', outside('data/tailrace/edge_logs/a/../../outside'), 'outside'],
    ['an absolute path', outside('/tmp/outside'), 'outside'],
    ['a base', (dir) => appendFile(join(dir, 'events/.backup'), '<base_backup>'), 'base_backup'],
    ['another disk', table(/ SETTINGS index/, ` SETTINGS disk/**/= ${OBJECTS}, index`), 'edge_logs.sql'],
    ['a disk behind a quote', table(/ SETTINGS index/, QUOTED), 'edge_logs.sql'],
    ['another engine', table(/ENGINE = .*/, "ENGINE = File('CSV', '/tmp/outside')"), 'edge_logs.sql'],
    ['a dictionary', table(/^CREATE TABLE/, 'CREATE DICTIONARY'), 'edge_logs.sql'],
  ])('as a backup whose manifest is right, with %s', async (name, spoil, fault) => {
    const dir = at(`hostile-${name.replaceAll(' ', '-')}`);
    await cp(at('saved'), dir, { recursive: true });
    await spoil(dir);
    await writeManifest(dir);
    await expectRejected(dir, new RegExp(`is not one of Tailrace's: "[^"]*${fault}`));
    expect(existsSync('/tmp/outside')).toBe(false);
  });

  async function expectRejected(dir: string, message: RegExp): Promise<void> {
    expectExit(await restore(dir, 'rejected-data'), 1, message);
    const left = await readdir(at('rejected-data')).catch(() => []);
    expect(left.filter((one) => !/^(lock\.sqlite.*|owner\.txt)$/.test(one))).toEqual([]);
  }
});

test('beside "tailrace dev" in this folder a restore is for its data directory, which is in use', async () => {
  const { release } = lockStore(at('.tailrace'), 'tailrace dev (pid 1)');
  const before = process.cwd();
  process.chdir(folder.path);
  try {
    expectExit(await runProgram(['restore', at('saved')]), 1, /\.tailrace is in use by tailrace dev/);
  } finally {
    process.chdir(before);
    release();
  }
});
