import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  faultsInBothSchemes,
  KEY,
  makeKey,
  open,
  overflowOf,
  startBrowser,
  URL_OF_SERVICE,
} from './sampled.ts';

startBrowser();

const SOURCE = '/sources/cloudflare.logs.prod';
const ENDPOINTS = ['functions.invocation-stats', 'logs.all', 'usage.api-counts', 'usage.ingest'];
const PHONE = { width: 360, height: 780 };

/** Pages, with what stands over them. */
const STATES: Readonly<Record<string, { path: string; act?: (page: Page) => Promise<void> }>> = {
  keys: { path: '/keys' },
  'the form for a key': {
    path: '/keys',
    async act(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      for (const name of ['Endpoints that it may read', 'Sources that it may send to']) {
        await page.getByRole('group', { name }).getByRole('radio', { name: 'Only these' }).check();
      }
      await page.getByRole('button', { name: 'Pin a value' }).click();
    },
  },
  'a new key': {
    path: '/keys',
    async act(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('looked at');
      await page.getByRole('button', { name: 'Create the key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).waitFor();
    },
  },
  'the question before a revocation': {
    path: '/keys',
    act: (page) => page.getByRole('button', { name: 'Revoke of these tests' }).first().click(),
  },
  'the choice of a rotation': {
    path: '/keys',
    act: (page) => page.getByRole('button', { name: 'Rotate of these tests' }).first().click(),
  },
  explore: {
    path: '/explore?columns=request.path,response.status_code',
    async act(page) {
      await page.getByRole('button', { name: 'Fields', exact: true }).click();
      await page.getByRole('button', { name: /^level \d/ }).click();
      await page.locator('.field-value').first().waitFor();
      await page.locator('.line-head').first().click();
      await page.locator('.record').waitFor();
    },
  },
  'the menu of a value': {
    path: '/explore',
    async act(page) {
      await page.locator('.line-head').first().click();
      await page.locator('.record-value').first().click();
      await page.getByRole('menu').waitFor();
    },
  },
  'a search that finds nothing': { path: '/explore?q=no.such:1&range=15m' },
  'the sources of Explore': {
    path: '/explore',
    act: (page) => page.getByRole('button', { name: /^Sources:/ }).click(),
  },
  'the workbench with a result': {
    path: '/workbench',
    async act(page) {
      await page.getByLabel('project').fill('aurora');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('figure').waitFor();
    },
  },
  'the workbench with a fault and completions': {
    path: '/workbench?endpoint=usage.api-counts',
    async act(page) {
      const sql = page.getByRole('textbox', { name: 'SQL of the query' });
      await sql.press('Control+End');
      await page.keyboard.type(' WHERE 1 ');
      await page.getByRole('list', { name: 'Faults' }).waitFor();
      await page.keyboard.type('coun');
      await page.getByRole('listbox').waitFor();
    },
  },
  'the files of the workbench': {
    path: '/workbench?endpoint=usage.api-counts',
    act: (page) => page.getByRole('button', { name: 'Copy the files' }).click(),
  },
  'sending logs': { path: '/send' },
  'rejected requests': { path: '/admin?show=requests' },
  'rejected events': {
    path: '/admin?show=events',
    async act(page) {
      await fetch(`${URL_OF_SERVICE}/api/logs?source=logs`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify([{ timestamp: '1999-01-01T00:00:00Z', event_message: 'x'.repeat(3_000) }]),
      });
      await page.reload();
      await page.getByText('The last one').first().click();
    },
  },
  'the usage by key': {
    path: '/admin',
    act: (page) => page.getByRole('radio', { name: 'By key' }).check(),
  },
  'the count of a deletion': {
    path: '/admin?show=deletion',
    async act(page) {
      await page.getByLabel('Project', { exact: true }).fill('aurora');
      await page.getByRole('button', { name: 'Count the events' }).click();
      await page.getByRole('button', { name: /^Delete .* events…$/ }).click();
    },
  },
  sources: { path: '/sources' },
  'a source': { path: SOURCE },
};

async function show(name: string, options: Parameters<typeof open>[1]): Promise<Page> {
  const { path, act } = STATES[name] ?? { path: '/' };
  await makeKey({
    name: 'of these tests',
    pins: { project: 'aurora', project_tier: 'PRO' },
    sources: ['postgres.logs'],
  });
  const page = await open(path, { key: KEY, ...options });
  await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await act?.(page);
  return page;
}

describe('nothing is wider than a phone, and axe finds nothing wrong', { tags: 'slow' }, () => {
  test.each(Object.keys(STATES))('with %s', async (name) => {
    const page = await show(name, { viewport: PHONE });
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const dialog = page.getByRole('dialog');
    if ((await dialog.count()) > 0) {
      expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(await faultsInBothSchemes(page)).toEqual([]);
  });
});

test('the overview is shorter than three screens of a phone, and tables keep what is too wide to themselves', async () => {
  const page = await open('/', { key: KEY, viewport: PHONE });
  await page.getByText('Running since').waitFor();
  await page.getByRole('row', { name: /storage\.logs\.prod\.2/ }).waitFor();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(height).toBeGreaterThan(PHONE.height);
  expect(height).toBeLessThan(3 * PHONE.height);
  for (const width of [360, 780, 1000, 1280, 2560]) {
    await page.setViewportSize({ width, height: 780 });
    expect(await overflowOf(page), `${width} px`).toBeLessThanOrEqual(0);
  }
});

test('a source leads to its lines, for keys that may search', { tags: 'slow' }, async () => {
  const page = await open(SOURCE, { key: KEY });
  const toLines = page.locator('#content').getByRole('link', { name: /^Explore/ });
  expect(await toLines.getAttribute('href')).toBe('/explore?source=cloudflare.logs.prod');
  for (const [path, source] of [
    ['/sources', 'postgres.logs'],
    ['/', 'gotrue.logs.prod'],
  ] as const) {
    await page.goto(URL_OF_SERVICE + path);
    await page.getByRole('link', { name: `Explore ${source}` }).click();
    await page.getByRole('heading', { name: 'Explore', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('source')).toBe(source);
  }
  const sender = await open(SOURCE, { key: await makeKey({ scopes: ['ingest'] }) });
  await sender.getByRole('heading', { name: 'Fields' }).waitFor();
  expect(await sender.getByRole('link', { name: /^Explore/ }).count()).toBe(0);
});

test.each([
  [{ scopes: ['ingest'] }, ['Sources', 'Send logs', 'API reference']],
  [
    { scopes: ['query'], endpoints: ['logs.all'] },
    ['Overview', 'Dashboards', 'Alerts', 'API reference', 'logs.all'],
  ],
  [
    { scopes: ['query', 'manage'], pins: { project: 'aurora' } },
    [
      'Overview',
      'Explore',
      'Dashboards',
      'Alerts',
      'Sources',
      'Send logs',
      'Keys',
      'Admin',
      'API reference',
      ...ENDPOINTS,
    ],
  ],
])('the navigation of a key with %j leads to %j only', { tags: 'slow' }, async (rights, expected) => {
  const page = await open('/', { key: await makeKey(rights), viewport: PHONE });
  await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Menu' }).click();
  const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
  await expect.poll(() => links.allInnerTexts()).toEqual(expected);
  await links.first().focus();
  await page.keyboard.press('Escape');
  await expect.poll(() => links.first().isVisible()).toBe(false);
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Menu');
});

test('a page says what a key needs that lacks more than a scope', { tags: 'slow' }, async () => {
  const page = await open('/explore', { key: await makeKey({ endpoints: ['logs.all'] }) });
  await page.getByText('This page needs query, of a key that is not limited to endpoints').waitFor();
  const other = await open('/workbench', { key: await makeKey({ scopes: ['manage'] }) });
  await other.getByText('also with the scope query').waitFor();
});

test('by keyboard alone one signs in, runs an endpoint, and makes and revokes a key', async () => {
  const page = await open('/endpoints/usage.api-counts?interval=daily');
  const press = (key: string) => page.keyboard.press(key);
  const type = (text: string) => page.keyboard.type(text);
  /** Goes on with Tab until what has the focus is called so. */
  const reach = async (name: string) => {
    for (let i = 0; i < 80; i++) {
      const focused = await page.evaluate(() => {
        const { activeElement } = document;
        const label = activeElement instanceof HTMLInputElement ? activeElement.labels?.[0] : undefined;
        return (label ?? activeElement)?.textContent ?? '';
      });
      if (focused.startsWith(name)) return;
      await press('Tab');
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  await page.getByLabel('API key').waitFor();
  await reach('API key');
  await type(KEY);
  await press('Enter');
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await reach('project');
  await type('aurora');
  await press('Enter');
  await page.getByRole('figure', { name: 'Requests by area' }).waitFor();

  await reach('Keys');
  await press('Enter');
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  await reach('Create a key');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await type('by keyboard'); // its first field has the focus
  await press('Enter');
  await page.getByRole('region', { name: 'by keyboard: the new key' }).waitFor();
  await reach('I have stored it');
  await press('Enter');
  await reach('Revoke by keyboard');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await reach('Revoke the key');
  await press('Enter');
  await page.getByText('The key by keyboard is revoked').waitFor();
});

test('the first load has none of the other pages in it, which load little themselves', {
  tags: 'slow',
}, async () => {
  const page = await open('/', { key: KEY });
  await page.getByRole('row', { name: /usage\.api-counts/ }).waitFor();
  const loaded = async () =>
    await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.includes('/assets/'))
        .map(({ name, transferSize }) => [new URL(name).pathname, transferSize] as const),
    );
  const first = await loaded();
  expect(
    first.filter(([path]) => /\/(keys|source|sources|endpoint|alert|alert-list|workbench|mount)-/.test(path)),
  ).toEqual([]);
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  const later = (await loaded()).slice(first.length);
  expect(later.length).toBeGreaterThan(0);
  expect(later.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(30_000);
});

test('a page that opens in a background tab reads its data', async () => {
  const page = await open('/', { key: KEY });
  await page.addInitScript(() => Object.defineProperty(Document.prototype, 'hidden', { get: () => true }));
  await page.goto(`${URL_OF_SERVICE}/sources`);
  await page.getByRole('main').getByText('cloudflare.logs.prod').first().waitFor();
});
