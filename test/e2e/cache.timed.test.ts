import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { KEY, makeKey, open, signIn, startBrowser } from './sampled.ts';

startBrowser();

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Console' });

/** Counts the requests of a page for a path. */
function countRequests(page: Page, path: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) count++;
  });
  return () => count;
}

test('the list of endpoints is read once, however many parts of the pages show it', async () => {
  const page = await open('/docs', { key: KEY });
  await navigation(page).getByRole('link', { name: 'logs.all' }).waitFor();
  const count = countRequests(page, '/api/endpoints');
  await page.reload();
  await navigation(page).getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('row', { name: /usage\.api-counts/ }).waitFor();
  await navigation(page).getByRole('link', { name: 'logs.all' }).click();
  await page.getByRole('heading', { name: 'logs.all', level: 1 }).waitFor();
  await navigation(page).getByRole('link', { name: 'Workbench' }).click();
  await page.getByLabel('Endpoint under work').getByRole('option', { name: 'logs.all' }).waitFor({
    state: 'attached',
  });
  await navigation(page).getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('dialog').getByText('Endpoints that it may read').waitFor();
  expect(count()).toBe(1);
});

test('nothing that one key has read is shown to the next one, also if it comes after the sign-out', async () => {
  const page = await open('/', { key: KEY });
  await page.getByRole('row', { name: /usage\.api-counts/ }).waitFor();
  // The next answers of the first key come late, and so do all of the second.
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/(endpoints|overview|sources)$/, async (route) => {
    await released;
    await route.continue();
  });
  await navigation(page).getByRole('link', { name: 'Sources' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(
    page,
    await makeKey({ scopes: ['query', 'manage'], endpoints: ['logs.all'], sources: ['postgres.logs'] }),
  );
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await navigation(page).getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('main').getByText('Reading…').waitFor();
  expect(await page.getByText('usage.api-counts').count()).toBe(0);
  release();
  await navigation(page).getByRole('link', { name: 'logs.all' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'logs.all' }).waitFor();
  expect(await page.getByText('usage.api-counts').count()).toBe(0);
  await navigation(page).getByRole('link', { name: 'Sources' }).click();
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  expect(await page.getByText('cloudflare.logs.prod').count()).toBe(0);
});
