import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/service.ts';

// The tests' own place would be used.
const NONE_GIVEN = { NODE_COMPILE_CACHE: '' };
const home = await temporaryFolder();
afterAll(() => home.remove());

test('keeps compiled code in the cache directory of its user', async () => {
  const { code } = await runCli(['--version'], { env: { XDG_CACHE_HOME: home.path, ...NONE_GIVEN } });
  expect(code).toBe(0);
  expect((await readdir(join(home.path, 'tailrace'), { recursive: true })).length).toBeGreaterThan(100);
});

test('runs as well if that directory cannot be written', async () => {
  const file = join(home.path, 'file');
  await writeFile(file, '');
  const { code, stderr } = await runCli(['--version'], { env: { XDG_CACHE_HOME: file, ...NONE_GIVEN } });
  expect([code, stderr]).toEqual([0, '']);
});
