import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkStoreVersion, findOwner, lockStore, markRestoring } from '../../src/engine/store-file.ts';
import { openCore } from '../../src/service/open-core.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFolder, temporaryFolder, testConfig } from '../support/service.ts';

/** A data directory with a store, and the file that describes it. */
async function createStore(file?: string): Promise<string> {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  await mkdir(join(path, 'store'));
  if (file !== undefined) await writeFile(join(path, 'tables.json'), file);
  return path;
}

test.each([
  [
    'of another version',
    '{"store":7,"tables":{}}',
    /event store in .* is of version 7, and Tailrace .* reads only version 2;/,
  ],
  ['of an early build, which wrote no version', '{"edge_logs":{}}', /is of an unknown version/],
  ['without a description', undefined, /is of an unknown version/],
])('a store %s is rejected before the engine touches it', async (_, file, message) => {
  const path = await createStore(file);
  await expect(openCore(testConfig(path), 'a test')).rejects.toThrow(message);
  expect(await readdir(join(path, 'store'))).toEqual([]);
});

test('a store that was only partly restored is rejected', async () => {
  const path = await createStore();
  markRestoring(path);
  expect(() => checkStoreVersion(path)).toThrow('"tailrace restore" did not finish');
});

test('a new store has its version before the engine creates anything, so that a killed first start can be repeated', async () => {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  checkStoreVersion(path);
  await mkdir(join(path, 'store'));
  checkStoreVersion(path);
});

const HOLDER = `
const { lockStore } = await import('./src/engine/store-file.ts');
const lock = lockStore(process.argv[1], 'the holder (pid ' + process.pid + ')');
console.log('locked');
setInterval(() => lock, 1000); // or it is collected as garbage, and the lock with it`;

describe('the lock of a store', async () => {
  const folder = await ownFolder();

  test('makes the folder and is free again once released', () => {
    const dir = join(folder.path, 'deep', 'new');
    lockStore(dir, 'first').release();
    const lock = lockStore(dir, 'second');
    lock.release();
    lock.release();
    expect(existsSync(join(dir, 'owner.txt'))).toBe(false);
  });

  test('rejects a second owner in the same process, naming the first and what to do', async () => {
    const dir = join(folder.path, 'same');
    const lock = lockStore(dir, 'tailrace serve (pid 4711)');
    expect(await faultsIn(() => lockStore(dir, 'second'))).toEqual([
      `data directory ${dir} is in use by tailrace serve (pid 4711); stop that first, or set TAILRACE_DATA_DIR to another folder`,
    ]);
    lock.release();
    lockStore(dir, 'third').release();
  });

  test('rejects a second process, and is free once the first was killed with -9', async () => {
    const dir = join(folder.path, 'killed');
    expect([findOwner(dir), existsSync(dir)]).toEqual([undefined, false]);
    const args = ['--input-type=module', '-e', HOLDER, dir];
    const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    const owner = `the holder (pid ${holder.pid})`;
    expect(findOwner(dir)).toBe(owner);
    expect((await faultsIn(() => lockStore(dir, 'second')))[0]).toContain(`is in use by ${owner};`);
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
    expect([findOwner(dir), existsSync(join(dir, 'owner.txt'))]).toEqual([undefined, true]);
    lockStore(dir, 'second').release();
  });
});
