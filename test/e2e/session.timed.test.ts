import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsOf, open, signIn, startBrowser } from './browser.ts';
import { callService, createKey, KEY, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

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
    const key = await createKey({ scopes: ['query', 'manage'] });
    const page = await open('/', { key, expected: [401] });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { id } = (await (await callService('/api/me', key)).json()) as { id: string };
    await callService(`/api/keys/${id}`, KEY, { method: 'DELETE' });
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
    const limits = { scopes: ['query', 'manage'], endpoints: ['logs.all'], sources: ['postgres.logs'] };
    await signIn(page, await createKey(limits));
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
