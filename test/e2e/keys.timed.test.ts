import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { open, startBrowser } from './browser.ts';
import { callService, KEY, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const LOGS = '/api/endpoints/query/logs.all?project=aurora&project_tier=PRO';
const statusOf = async (key: string, path = LOGS) => (await callService(path, key)).status;

const lineOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) });

test('a key is created with limits, and shown only once', async () => {
  const page = await open('/keys', { key: KEY });
  await page.getByRole('button', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name', { exact: true }).fill('with limits');
  await form.getByLabel('Description').fill('of a test');
  const endpoints = form.getByRole('group', { name: 'Endpoints that it may read' });
  await endpoints.getByRole('radio', { name: 'Only these' }).check();
  await endpoints.getByRole('checkbox', { name: 'logs.all' }).check();
  await form.getByRole('button', { name: 'Pin a value' }).click();
  await form.getByLabel('Value of project').fill('aurora');
  await form.getByRole('button', { name: 'in 30 d' }).click();
  await form.getByLabel('Requests a second').fill('50');
  await form.getByRole('button', { name: 'Create the key' }).click();
  const created = page.getByRole('region', { name: 'with limits: the new key' });
  const key = await created.locator('code').first().innerText();
  await created.getByRole('button', { name: 'Copy the key' }).click();
  await created.getByText('Copied').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  const others = [LOGS.replace('aurora', 'basalt'), LOGS.replace('logs.all', 'usage.api-counts')];
  expect(await Promise.all([LOGS, ...others].map((path) => statusOf(key, path)))).toEqual([200, 403, 403]);
  const line = await lineOf(page, 'with limits').innerText();
  for (const text of ['good', 'logs.all', 'project = aurora', '50/s, 100 at once', 'in 30 d', 'of a test'])
    expect(line).toContain(text);
  await created.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(key);
  await page.reload();
  await lineOf(page, 'with limits').waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(key);
});
