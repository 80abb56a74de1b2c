import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findOwner, lockStore } from '../../src/engine/store-lock.ts';
import { InputError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

function faultsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof InputError) return error.faults;
    throw error;
  }
  throw new Error('it should have been refused');
}

const HOLDER = `
const { lockStore } = await import('./src/engine/store-lock.ts');
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

test('refuses a second owner in the same process, naming the first and what to do', () => {
  const dir = join(folder.path, 'same');
  const lock = lockStore(dir, 'tailrace serve (pid 4711)');
  expect(faultsOf(() => lockStore(dir, 'second'))).toEqual([
    `data directory ${dir} is in use by tailrace serve (pid 4711); stop that first, send the command to it with --url (load, query), or set TAILRACE_DATA_DIR to another folder`,
  ]);
  lock.release();
  lockStore(dir, 'third').release();
});

test('refuses a second process, and is free once the first was killed with -9', async () => {
  const dir = join(folder.path, 'killed');
  expect([findOwner(dir), existsSync(dir)]).toEqual([undefined, false]);
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const owner = `the holder (pid ${holder.pid})`;
  expect(findOwner(dir)).toBe(owner);
  expect(faultsOf(() => lockStore(dir, 'second'))[0]).toContain(`is in use by ${owner};`);
  const gone = once(holder, 'exit');
  holder.kill('SIGKILL');
  await gone;
  expect([findOwner(dir), existsSync(join(dir, 'owner.txt'))]).toEqual([undefined, true]);
  lockStore(dir, 'second').release();
});

test('a lock file that is none is not taken for another owner', async () => {
  const dir = join(folder.path, 'broken');
  await mkdir(dir);
  await writeFile(join(dir, 'lock.sqlite'), 'not a database '.repeat(100));
  expect(faultsOf(() => lockStore(dir, 'x'))[0]).toContain('cannot be used: file is not a database');
});

test('a data directory that is a file is refused in one line', async () => {
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  expect(faultsOf(() => lockStore(file, 'x'))).toEqual([
    `data directory ${file} cannot be used: it is a file, not a folder; set TAILRACE_DATA_DIR to a writable folder`,
  ]);
});
