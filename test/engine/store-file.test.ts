import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkStoreVersion, markRestoring } from '../../src/engine/store-file.ts';
import { openCore } from '../../src/service/open-core.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

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
