import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';
import { faultsOf, open, startBrowser } from './browser.ts';

const NAME = 'failing.paths';
const folder = await temporaryFolder();
const [alertsDir, endpointsDir] = [join(folder.path, 'alerts'), join(folder.path, 'endpoints')];
await mkdir(alertsDir);
await cp('template/endpoints', endpointsDir, { recursive: true });
const shipped = await readFile(`template/alerts/${NAME}.yaml`, 'utf8');
const eager = `${shipped.replace(/^(every|delay|for): .*\n/gm, '')}every: 1\n`;
await writeFile(join(alertsDir, `${NAME}.yaml`), eager);
const receiver = await startReceiver();
const receiversFile = join(folder.path, 'receivers');
await writeFile(
  receiversFile,
  `ops: { kind: webhook, url: "${receiver.url}", secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3, private: true }\n`,
  { mode: 0o600 },
);
const { clock, core, url, close } = await startTestService({
  env: {
    ...{ TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_ALERTS_DIR: alertsDir },
    ...{ TAILRACE_RECEIVERS_FILE: receiversFile, TAILRACE_EDIT_ENDPOINTS: '1' },
  },
});
const event = {
  ...{ timestamp: clock.now * 1000, project: 'aurora', event_message: 'GET /cart 500' },
  metadata: { request: { path: '/cart' }, response: { status_code: 500 } },
};
await storeEvents(core, 'cloudflare.logs.prod', [event, event], clock.now);
clock.now += 5_000;
startBrowser(url);
afterAll(async () => {
  await close();
  receiver.close();
  await folder.remove();
});

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const regionOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function openAlert(key = PRIVATE_KEY): Promise<Page> {
  const page = await open('/alerts', { key });
  await page.getByRole('row', { name: /failing\.paths.*firing/ }).waitFor();
  await page.getByRole('main').getByRole('link', { name: NAME }).click();
  await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();
  return page;
}

test('the list leads to an alert with its instances, chart, history and lines; a test of it is sent', async () => {
  const page = await openAlert();
  const instance = regionOf(page, 'Instances').getByRole('row').nth(1);
  expect(await instance.innerText()).toMatch(/path\s+\/cart[\s\S]*firing[\s\S]*failures\s+2/);
  await regionOf(page, 'The last day').getByText('Threshold').waitFor();
  await regionOf(page, 'History').getByText('/cart').first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await press(page, 'Send a test');
  const dialog = page.getByRole('dialog', { name: `Test ${NAME}` });
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.getByText('1 instance fires at present').waitFor();
  expect(receiver.received.some(({ body }) => body.includes('"test":true'))).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Explore them' }).click();
  await page.getByRole('main').getByText('GET /cart 500').first().waitFor();
});
