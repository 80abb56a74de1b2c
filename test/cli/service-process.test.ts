import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { getServicePid } from '../../src/cli/service-process.ts';
import { lockStore } from '../../src/engine/store-lock.ts';
import { InputError } from '../../src/errors.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

/** Why nobody would be signalled. */
function refusalOf(dir: string, env: Readonly<Record<string, string>> = {}): string {
  try {
    return `pid ${getServicePid(testConfig(dir, env))}`;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

const nobody = (dir: string) =>
  `no service runs on data directory ${dir}; set TAILRACE_DATA_DIR to the one of the service`;

test('the service is the process that holds the lock of the data directory', () => {
  const dir = join(folder.path, 'held');
  const lock = lockStore(dir, `tailrace serve (pid ${process.pid})`);
  expect(getServicePid(testConfig(dir))).toBe(process.pid);
  lock.release();
  expect(refusalOf(dir)).toBe(nobody(dir));
});

test('nobody is signalled where no service has ever run, and nothing is created there', () => {
  const dir = join(folder.path, 'none');
  expect(refusalOf(dir)).toBe(nobody(dir));
  expect(existsSync(dir)).toBe(false);
});

test('nobody is signalled where a service was killed and another process has got its number', async () => {
  const dir = join(folder.path, 'killed');
  const other = spawn('cat');
  lockStore(dir, 'x').release();
  await writeFile(join(dir, 'owner.txt'), `tailrace serve (pid ${other.pid})\n`);
  expect(refusalOf(dir)).toBe(nobody(dir));
  // Nor where the lock is held again by somebody whose name was not written yet, or counts in another container.
  const lock = lockStore(dir, `tailrace serve (pid ${other.pid})`);
  expect(refusalOf(dir)).toBe(
    `data directory ${dir} is in use by tailrace serve (pid ${other.pid}), which cannot be seen from here; run this as the same user, and in the same container`,
  );
  lock.release();
  const ended = once(other, 'close');
  other.stdin.end();
  await ended;
});

test('nobody is signalled where a command that is no service holds the directory', () => {
  const dir = join(folder.path, 'load');
  const owner = `tailrace load (pid ${process.pid})`;
  const lock = lockStore(dir, owner);
  expect(refusalOf(dir)).toBe(`data directory ${dir} is in use by ${owner}, which is not a service`);
  lock.release();
});

test('nobody is signalled where the events are on a ClickHouse server', () => {
  expect(refusalOf(folder.path, { CLICKHOUSE_URL: 'http://127.0.0.1:8123' })).toBe(
    'CLICKHOUSE_URL is set, and services on a ClickHouse server hold no data directory; send SIGHUP or SIGTERM to the process itself',
  );
});
