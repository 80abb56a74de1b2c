import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { STORE_VERSION, writeStoreVersion } from '../../src/engine/store-version.ts';
import { openCore } from '../../src/service/open-core.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a store of a newer version is refused before the engine touches it', async () => {
  const dir = join(folder.path, 'newer');
  await mkdir(join(dir, 'store'), { recursive: true });
  writeStoreVersion(dir, STORE_VERSION + 1);
  await expect(openCore(testConfig(dir), 'a test')).rejects.toThrow(
    /event store in .* is of version \d+, newer than this Tailrace .* reads \(\d+\); update Tailrace/,
  );
  expect(await readdir(join(dir, 'store'))).toEqual([]);
});
