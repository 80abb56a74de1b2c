import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findOwner, lockStore } from '../../src/engine/store-file.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();

const HOLDER = `
const { lockStore } = await import('./src/engine/store-file.ts');
const lock = lockStore(process.argv[1], 'the holder (pid ' + process.pid + ')');
console.log('locked');
setInterval(() => lock, 1000); // or it is collected as garbage, and the lock with it`;

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
