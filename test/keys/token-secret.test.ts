import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openTokenSecret, SECRET_FILE } from '../../src/keys/token-secret.ts';

const MODULE = new URL('../../src/keys/token-secret.ts', import.meta.url).href;
const WITHOUT_FILES = `
  import { openSync } from 'node:fs';
  import { openTokenSecret } from ${JSON.stringify(MODULE)};
  try { for (;;) openSync('/dev/null'); } catch {}
  try { openTokenSecret(process.argv[1], ''); } catch (error) { process.stdout.write(error.message); }
`;

test('a secret stays when the system has no more open files, in which it cannot be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  openTokenSecret(folder, '');
  const file = join(folder, SECRET_FILE);
  const before = await readFile(file, 'utf8');
  const script = 'ulimit -n 256; exec "$0" --input-type=module -e "$1" "$2"';
  const run = promisify(execFile)('/bin/sh', ['-c', script, process.execPath, WITHOUT_FILES, folder]);
  expect((await run).stdout).toContain('EMFILE');
  expect(await readFile(file, 'utf8')).toBe(before);
});
