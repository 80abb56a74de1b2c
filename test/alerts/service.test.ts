import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEntry } from '../../src/alerts/history.ts';
import { openControlStore } from '../../src/keys/open-control-store.ts';
import { startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const ID = '0b8e3c52-6a0f-4d0e-9c55-3f1c7f0f2b64';
const folder = await temporaryFolder();
afterAll(folder.remove);

test('a service evaluates its alerts as of the present', async () => {
  const shipped = await readFile('template/alerts/failing.paths.yaml', 'utf8');
  const eager = shipped.replace(/^(every|delay|for): .*\n/gm, '').replace('above: 10', 'above: 1');
  await writeFile(join(folder.path, 'failing.paths.yaml'), `${eager}every: 1\n`);
  const { clock, config, core, close } = await startTestService({
    env: { TAILRACE_ENDPOINTS_DIR: 'template/endpoints', TAILRACE_ALERTS_DIR: folder.path },
  });
  const control = await openControlStore(config);
  try {
    const event = {
      ...{ timestamp: clock.now * 1000, project: 'aurora', event_message: 'GET /cart 500' },
      metadata: { request: { path: '/cart' }, response: { status_code: 500 } },
    };
    await storeEvents(core, 'cloudflare.logs.prod', [event, event], clock.now);
    clock.now += 5_000;
    const read = async () =>
      (await control.alerts.listHistory(ID, { limit: 10 })).map(({ entry }) => readEntry(entry));
    await expect
      .poll(read)
      .toEqual([{ change: 'firing', labels: { path: '/cart' }, values: { failures: 2 }, isQuiet: false }]);
  } finally {
    await control.close();
    await close();
  }
});
