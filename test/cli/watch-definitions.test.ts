import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { watchDefinitions } from '../../src/cli/reload.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a change of the file of the receivers counts, in place or by a rename over it', async () => {
  const dir = (name: string) => join(folder.path, name);
  const [endpointsDir, sourcesDir, alertsDir] = ['endpoints', 'sources', 'alerts'].map(dir);
  for (const path of [endpointsDir, sourcesDir, alertsDir]) await mkdir(path ?? '');
  const receiversFile = dir('receivers.yaml');
  await writeFile(receiversFile, '{}');
  const seen: string[] = [];
  const folders = {
    endpointsDir: endpointsDir ?? '',
    sourcesDir: sourcesDir ?? '',
    alertsDir: alertsDir ?? '',
  };
  const end = await watchDefinitions({ ...folders, receiversFile, quotasFile: '' }, (paths) =>
    seen.push(...paths),
  );
  try {
    for (let times = 1; times <= 4; times++) {
      seen.length = 0;
      const isRename = times % 2 === 0;
      const written = isRename ? dir('new') : receiversFile;
      await writeFile(written, `{} # ${times}`);
      if (isRename) await rename(written, receiversFile);
      await expect.poll(() => seen, { timeout: 30_000 }).toContain(receiversFile);
    }
  } finally {
    await end();
  }
});
