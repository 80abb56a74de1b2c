import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { get, read, request } from '../support/http.ts';
import { faultsOf, open, signIn, startBrowser } from './browser.ts';
import { KEY, newKey, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const LOGS = '/api/endpoints/query/logs.all?project=aurora&project_tier=PRO';
const statusOf = async (key: string, path: string) =>
  (await get(URL_OF_SERVICE, path, { 'x-api-key': key })).status;

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

const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();

describe('signing in', () => {
  test('accepts a right key for every tab, and keeps neither it nor its session where scripts can read it', async () => {
    const page = await open('/', { expected: [401] });
    expect(await faultsOf(page)).toEqual([]);
    await signIn(page, 'tr_…'); // which no header can carry
    await page.getByText('This is not a key').waitFor();
    await signIn(page, KEY);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${URL_OF_SERVICE}/keys`);
    await other.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    const kept = await page.evaluate(() =>
      [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie].join(),
    );
    for (const secret of [KEY, 'ts_']) expect(kept).not.toContain(secret);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await other.getByText('You have signed out.').waitFor();
  });

  test('is asked for again when the key is revoked', async () => {
    const key = await newKey({ scopes: ['query', 'manage'] });
    const page = await open('/', { key, expected: [401] });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { id } = await read<{ id: string }>(URL_OF_SERVICE, '/api/me', key);
    await request(URL_OF_SERVICE, `/api/keys/${id}`, { method: 'DELETE' });
    await page.getByText('This key was revoked or has expired').waitFor();
  });

  test('with another key shows nothing that the first one has read, even if it arrives later', async () => {
    const page = await open('/', { key: KEY });
    await page.getByRole('row', { name: /usage\.api-counts/ }).waitFor();
    const released = Promise.withResolvers<void>();
    await page.route(/\/api\/(endpoints|overview|sources)$/, async (route) => {
      await released.promise;
      await route.continue();
    });
    await goTo(page, 'Sources');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const limits = { endpoints: ['logs.all'], sources: ['postgres.logs'] };
    await signIn(page, await newKey({ scopes: ['query', 'manage'], ...limits }));
    await goTo(page, 'Overview');
    await page.getByRole('main').getByText('Reading…').waitFor();
    expect(await page.getByText('usage.api-counts').count()).toBe(0);
    released.resolve();
    await page.getByRole('main').getByRole('link', { name: 'logs.all' }).waitFor();
    expect(await page.getByText('usage.api-counts').count()).toBe(0);
    await goTo(page, 'Sources');
    await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
    expect(await page.getByText('cloudflare.logs.prod').count()).toBe(0);
  });
});
