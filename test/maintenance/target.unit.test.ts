import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openTarget } from '../../src/maintenance/backup/target.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const data = join(folder.path, 'data');
await mkdir(data);

test('of two backups that start at once into one folder the second is refused, and takes nothing from the first', async () => {
  for (const isThere of [true, false]) {
    const dir = join(folder.path, `backup-${isThere}`);
    if (isThere) await mkdir(dir);
    const first = openTarget(dir, data);
    expect(() => openTarget(dir, data)).toThrow('it is not empty; name a new folder for each backup');
    await writeFile(join(dir, 'manifest.json'), '');
    first.release();
    expect(await readdir(dir)).toEqual(['manifest.json']);
    expect(() => openTarget(dir, data)).toThrow('it is not empty');
    expect(await readdir(dir)).toEqual(['manifest.json']);
  }
});
