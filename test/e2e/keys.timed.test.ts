import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { open, startBrowser } from './browser.ts';
import { callService, createKey, KEY, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const LOGS = '/api/endpoints/query/logs.all?project=aurora&project_tier=PRO';
const statusOf = async (key: string, path = LOGS) => (await callService(path, key)).status;

async function openKeys(options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const page = await open('/keys', { key: KEY, ...options });
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  return page;
}

const lineOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) });
const trailOf = (page: Page) => page.getByRole('region', { name: 'Audit trail' }).getByRole('listitem');

test('a key is created with limits, and shown only once', async () => {
  const page = await openKeys();
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

test('a key is revoked after a question, at once', async () => {
  const key = await createKey({ name: 'to revoke' });
  const page = await openKeys();
  const button = page.getByRole('button', { name: 'Revoke to revoke' });
  await button.click();
  const dialog = page.getByRole('dialog', { name: 'Revoke to revoke?' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await statusOf(key)).toBe(200);
  await button.click();
  await dialog.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key to revoke is revoked').waitFor();
  expect(await statusOf(key)).toBe(401);
  await expect.poll(() => lineOf(page, 'to revoke').count()).toBe(0);
  const fold = page.getByRole('region', { name: 'Revoked and expired keys' });
  await fold.getByRole('button', { name: /^Show/ }).click();
  expect(await lineOf(page, 'to revoke').innerText()).toContain('revoked');
  await expect
    .poll(async () => (await trailOf(page).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' '))
    .toContain('The environment’s private key revoked to revoke');
});
