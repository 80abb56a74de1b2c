import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startAlertingService } from '../support/alerting.ts';
import { PRIVATE_KEY } from '../support/service.ts';
import { faultsOf, open, startBrowser } from './browser.ts';

const NAME = 'failing.paths';
const { ops, url, call } = await startAlertingService();
startBrowser(url);

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const regionOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('the list leads to an alert with its instances, chart, history and lines; a test of it is sent', async () => {
  const page = await open('/alerts', { key: PRIVATE_KEY });
  await page.getByRole('row', { name: /failing\.paths.*firing/ }).waitFor();
  await page.getByRole('navigation').getByText('1 firing').waitFor();
  await page.getByRole('main').getByRole('link', { name: NAME }).click();
  await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();
  const instance = regionOf(page, 'Instances').getByRole('row').nth(1);
  expect(await instance.innerText()).toMatch(/path\s+\/cart[\s\S]*firing[\s\S]*failures\s+2/);
  await regionOf(page, 'The last day').getByText('Threshold').waitFor();
  await regionOf(page, 'History').getByText('/cart').first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await press(page, 'Send a test');
  const dialog = page.getByRole('dialog', { name: `Test ${NAME}` });
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.getByText('1 instance fires at present').waitFor();
  expect(ops.received.some(({ body }) => body.includes('"test":true'))).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Explore them' }).click();
  await page.getByRole('main').getByText('GET /cart 500').first().waitFor();
});

test('the file of an alert, and that of a new one, say how often it would have fired', async () => {
  const values = new URLSearchParams({ endpoint: NAME, 'p.project': 'aurora' });
  const page = await open(`/workbench/alert?${values}`, { key: PRIVATE_KEY });
  const past = () =>
    page.getByText(/It would have fired once in the last 7 days, 1 message, evaluated every \d/);
  await past().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${url}/workbench/alert?name=${NAME}`);
  await past().waitFor();
});

test('a search becomes an alert on its endpoint, both saved at once, with the past tried before', async () => {
  const page = await open('/explore?q=level:error', { key: PRIVATE_KEY });
  await page.getByRole('link', { name: 'Alert on this' }).click();
  await page.getByText(/It would have fired once in the last 7 days, 1 message/).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  const editor = page.getByRole('textbox', { name: 'New file' });
  const text = (await editor.locator('.cm-line').allTextContents()).join('\n');
  await editor.press('Control+a');
  await page.keyboard.insertText(text.replace(/^name: .*/, 'name: too.many.failures'));
  await press(page, 'Save the endpoint and the alert');
  await page.getByRole('heading', { name: 'too.many.failures', level: 1 }).waitFor();
  const { result } = (await call('events.top-source')).body;
  expect(result).toEqual([{ source: 'cloudflare.logs.prod', count: 2 }]);
});

test('a silence of one instance begins by a form, and is listed until it is ended', async () => {
  const page = await open(`/alerts/${NAME}`, { key: PRIVATE_KEY });
  await press(page, /^Silence/);
  const dialog = page.getByRole('dialog', { name: `Silence ${NAME}` });
  await dialog.getByRole('button', { name: '4 h' }).click();
  await dialog.getByLabel('Why').fill('a known fault');
  await dialog.getByLabel('path', { exact: true }).fill('/cart');
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Silence it' }).click();
  const silences = regionOf(page, 'Silences');
  await silences.getByText('a known fault', { exact: true }).waitFor();
  expect(await silences.innerText()).toMatch(/in 4 h[\s\S]*\/cart|\/cart[\s\S]*in 4 h/);
  await silences.getByRole('button', { name: /^End it now/ }).click();
  await silences.getByText('Not silenced').waitFor();
});
