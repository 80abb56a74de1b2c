import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsOf, KEY, makeKey, open, overflowOf, startBrowser } from './browser.ts';

startBrowser();

const SOURCE = '/sources/cloudflare.logs.prod';

/** Each page of keys and sources, with what stands over it. */
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

describe('at 360 px', { tags: 'slow' }, () => {
  test.each(Object.keys(STATES))('%s: nothing is wider than the window', async (name) => {
    const page = await show(name, { viewport: { width: 360, height: 780 } });
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const dialog = page.getByRole('dialog');
    if ((await dialog.count()) > 0) {
      expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    }
  });
});

describe('axe finds nothing wrong', { tags: 'slow' }, () => {
  const views = Object.keys(STATES).flatMap((name) =>
    (['light', 'dark'] as const).map((colorScheme) => [name, colorScheme] as const),
  );
  test.each(views)('with %s in %s', async (name, colorScheme) => {
    expect(await faultsOf(await show(name, { colorScheme }))).toEqual([]);
  });
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
  expect(first.filter(([path]) => /\/(keys|source|sources|endpoint|workbench|mount)-/.test(path))).toEqual(
    [],
  );
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  const later = (await loaded()).slice(first.length);
  expect(later.length).toBeGreaterThan(0);
  expect(later.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(30_000);
});
