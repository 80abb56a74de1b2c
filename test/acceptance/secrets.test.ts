import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const folder = await ownFolder();
afterEach(endLeftProcesses);

test('what keys and events are kept in can be read by its owner alone where the folder is open to others', async () => {
  const open = join(folder.path, 'open');
  await mkdir(open);
  await chmod(open, 0o755);
  await writeFile(join(open, 'control.sqlite'), '', { mode: 0o644 }); // as a backup may have been put back
  const other = await startServe({ TAILRACE_PRIVATE_KEY: PRIVATE_KEY, TAILRACE_DATA_DIR: open });
  for (const name of ['control.sqlite', 'control.sqlite-wal', 'engine', 'store'])
    expect([name, (await stat(join(open, name))).mode & 0o077]).toEqual([name, 0]);
  await other.stop();
});
