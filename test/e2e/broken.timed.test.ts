import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsInBothSchemes, KEY, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const alertOf = (page: Page) => page.getByRole('main').getByRole('alert');
const goTo = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
/** The console, with the one open page ready. */
async function overview(expected: readonly (number | string)[] = []): Promise<Page> {
  const page = await open('/', { key: KEY, expected });
  await page.getByText('Engine and store').waitFor();
  return page;
}
const MISSING = ['could not be loaded', 'Failed to fetch dynamically imported module'];

describe('a page whose files cannot be loaded', () => {
  test('after an upgrade says that a new version is here, and a reload shows the page', async () => {
    const page = await overview([404, ...MISSING]);
    await page.route('**/assets/keys-*.js', (route) => route.fulfill({ status: 404, json: {} }));
    await page.route(`${URL_OF_SERVICE}/`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replaceAll('/assets/index-', '/assets/index-2-'),
      });
    });
    await goTo(page, 'Keys');
    await alertOf(page).getByText('A new version is here').waitFor();
    expect(await faultsInBothSchemes(page)).toEqual([]);
    await page.unrouteAll({ behavior: 'wait' });
    await alertOf(page).getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('button', { name: 'Create a key' }).waitFor(); // still signed in
    expect(page.url()).toBe(`${URL_OF_SERVICE}/keys`);
  });

  test('while the service is unreachable says so, keeps the others, and loads it once the service is back', async () => {
    const page = await overview(['ERR_INTERNET_DISCONNECTED', ...MISSING]);
    await page.context().setOffline(true);
    await goTo(page, 'Keys');
    await alertOf(page).getByText('The service could not be reached').waitFor();
    await alertOf(page).getByRole('button', { name: 'Try again' }).click();
    await alertOf(page).getByText('The service could not be reached').waitFor();
    await goTo(page, 'Overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.context().setOffline(false);
    await goTo(page, 'Keys');
    await alertOf(page).getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
  });
});

describe('an address with names that every object inherits', () => {
  test.each(['constructor', '__proto__', 'toString'])('%s shows the page', async (name) => {
    const page = await open(`/explore?columns=${name}&by=${name}&q=${name}:*`, { key: KEY });
    await page.getByText('No events', { exact: true }).waitFor();
    const lines = await open(`/explore?columns=${name},request.${name}`, { key: KEY });
    await lines.locator('.line-head').first().waitFor();
    expect(await lines.locator('.line-head .line-cell').first().innerText()).toBe('–');
  });
});

describe('an answer of another shape', () => {
  test.each([
    ['/', 'overview', 'alert'],
    ['/', 'endpoints', 'alert'],
    ['/explore', 'search?*', 'alert'],
    ['/explore', 'search/sources', 'lines'],
    ['/keys', 'keys?*', 'alert'],
    ['/sources', 'sources', 'alert'],
    ['/workbench', 'workbench', 'alert'],
  ])(
    'on %s from /api/%s leaves the navigation, and the page says so or goes without it: %s',
    async (path, api, what) => {
      const page = await open('/docs', { key: KEY, expected: ['TypeError', 'not from Tailrace'] });
      let body = '';
      await page.route(`**/api/${api}`, (route) =>
        route.fulfill({ status: 200, contentType: 'application/json', body }),
      );
      for (body of ['null', '{}', '{"result":[null]}', '[null]']) {
        await page.goto(URL_OF_SERVICE + path);
        const shown = what === 'alert' ? page.getByRole('alert') : page.locator('.line-head');
        await shown.first().waitFor();
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
      }
    },
    60_000,
  );

  test('that the page only fails over later says what to do, and another page is shown', async () => {
    const page = await open('/keys', { key: KEY, expected: ['TypeError'] });
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
    await page.route('**/api/overview', (route) =>
      route.fulfill({ json: { notices: 1, endpoints: 1, search: 1, sources: 1, engine: 1, store: 1 } }),
    );
    await goTo(page, 'Overview');
    await alertOf(page).getByText('This part of the console has a fault').waitFor();
    expect(await faultsInBothSchemes(page)).toEqual([]);
    await goTo(page, 'Keys');
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await goTo(page, 'Overview');
    await page.getByText('Engine and store').waitFor();
  });
});
