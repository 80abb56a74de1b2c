import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { DESKTOP, faultsOf, open, overflowOf, PHONE, startBrowser } from './browser.ts';
import { KEY, newKey, send, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Pages, and what stands above them. */
const STATES: [name: string, path: string, act?: (page: Page) => Promise<void>][] = [
  ['the overview', '/'],
  ['charts', '/endpoints/functions.invocation-stats?project=aurora&interval=7day'],
  ['a table', '/endpoints/usage.api-counts?project=aurora&interval=daily&ui.view=table'],
  ['log entries', '/endpoints/logs.all?project=aurora&project_tier=PRO'],
  [
    'the form for a key',
    '/keys',
    async (page) => {
      await press(page, 'Create a key');
      for (const name of ['Endpoints that it may read', 'Sources that it may send to']) {
        await page.getByRole('group', { name }).getByRole('radio', { name: 'Only these' }).check();
      }
      await press(page, 'Pin a value');
    },
  ],
  ['the question before a revocation', '/keys', (page) => press(page, 'Revoke of these tests')],
  [
    'Explore, its fields and a record',
    '/explore?range=7d&columns=request.path,response.status_code',
    async (page) => {
      await page.getByRole('button', { name: 'Fields', exact: true }).click();
      await press(page, /^level \d/);
      await page.locator('.field-value').first().waitFor();
      await page.locator('.line-head').first().click();
      await page.locator('.record').waitFor();
    },
  ],
  ['differences', '/explore?range=7d&view=compare'],
  ['the workbench', '/workbench?endpoint=usage.api-counts'],
  ['a dashboard', '/dashboards/functions?project=aurora'],
  ['its editor', '/dashboards/functions?ui.edit=1'],
  ['sending logs', '/send'],
  ['usage by key', '/admin', (page) => page.getByRole('radio', { name: 'By key' }).click()],
  ['rejected events', '/admin?show=events', (page) => page.getByText('The last one').first().click()],
  ['a source', '/sources/cloudflare.logs.prod'],
  ['the API reference and an operation', '/docs#search'],
];

test.each(STATES)('axe finds nothing wrong with %s, which fits a phone', async (_name, path, act) => {
  await newKey({ name: 'of these tests', pins: { project: 'aurora' }, sources: ['postgres.logs'] });
  await send('logs', [{ timestamp: 'yesterday', event_message: 'x'.repeat(3_000) }]);
  const page = await open(path, { key: KEY, viewport: PHONE });
  await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await act?.(page);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await page.setViewportSize(DESKTOP);
  expect(await faultsOf(page)).toEqual([]);
});

test('by keyboard alone a person signs in, runs an endpoint, and creates and revokes a key', async () => {
  const page = await open('/endpoints/usage.api-counts?interval=daily');
  /** Presses Tab until what has the focus begins with the name. */
  const reach = async (name: string) => {
    for (let i = 0; i < 80; i++) {
      const focused = await page.evaluate(() => {
        const { activeElement } = document;
        const label = activeElement instanceof HTMLInputElement ? activeElement.labels?.[0] : undefined;
        return (label ?? activeElement)?.textContent ?? '';
      });
      if (focused.startsWith(name)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  const enter = async (name: string, text = '') => {
    await reach(name);
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  await page.getByLabel('API key').waitFor();
  await enter('API key', KEY);
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await enter('project', 'aurora');
  await page.getByRole('figure', { name: 'Requests by area' }).waitFor();
  await enter('Keys');
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  await enter('Create a key');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('by keyboard'); // its first field has the focus
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'by keyboard: the new key' }).waitFor();
  await enter('I have stored it');
  await enter('Revoke by keyboard');
  await page.getByRole('dialog').waitFor();
  await enter('Revoke the key');
  await page.getByText('The key by keyboard is revoked').waitFor();
});
