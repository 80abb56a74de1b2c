import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsOf, KEY, open, overflowOf, startBrowser } from './sampled.ts';

startBrowser();

async function openReference(options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const page = await open('/docs', { key: KEY, ...options });
  await page.getByText('/api/overview').first().waitFor();
  return page;
}

/** Lightness from 0 to 255 of a computed colour. */
const lightnessOf = (page: Page, selector: string, property: 'color' | 'backgroundColor') =>
  page
    .locator(selector)
    .first()
    .evaluate((element, name) => {
      const [red = 0, green = 0, blue = 0] = (getComputedStyle(element)[name].match(/[\d.]+/g) ?? []).map(
        Number,
      );
      return (red + green + blue) / 3;
    }, property);

describe('the reference at /docs', () => {
  test('lists each endpoint once, by its name, with the UUID and POST in its description', async () => {
    const page = await openReference();
    const paths = await page.locator('.opblock-summary-path').allInnerTexts();
    const listed = paths.map((path) => path.replaceAll(/[\s\u200b]/g, ''));
    expect(listed.filter((path) => path.startsWith('/api/endpoints/query/'))).toEqual([
      '/api/endpoints/query/functions.invocation-stats',
      '/api/endpoints/query/logs.all',
      '/api/endpoints/query/usage.api-counts',
      '/api/endpoints/query/usage.ingest',
    ]);
    const ofEvents = listed.filter((path) => /logs$|events|vector/.test(path));
    expect(ofEvents.toSorted()).toEqual(['/api/logs', '/api/rejected-events', '/api/v2/logs', '/v1/logs']);
    await page.getByText('The most recent log entries of a project').first().click();
    const description = page.locator('.opblock.is-open .opblock-description');
    expect(await description.innerText()).toMatch(/\/api\/endpoints\/query\/[0-9a-f-]{36}/);
    expect(await description.innerText()).toContain('POST takes the parameters');
  });

  test('is a page of the console, with the endpoints of the key that is signed in', async () => {
    const page = await open('/', { key: KEY });
    const navigation = page.getByRole('navigation', { name: 'Console' });
    await navigation.getByRole('link', { name: 'API reference' }).click();
    await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor();
    await page.getByText('/api/endpoints/query/usage.api-counts').first().waitFor();
    expect(await page.title()).toBe('API reference · Tailrace');
    await navigation.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
    expect(await page.title()).toBe('Keys · Tailrace');
  });

  test('needs no key, and lists the endpoints of one after signing in', async () => {
    const page = await open('/docs');
    await page.getByText('/api/overview').first().waitFor();
    expect(await page.getByText('/api/endpoints/query/').count()).toBe(0);
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    expect(await links.allInnerTexts()).toEqual(['API reference']);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('/api/endpoints/query/usage.api-counts').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('/api/endpoints/query/').count()).toBe(0);
  });

  test('asks for another key if that of the tab is not accepted', async () => {
    const page = await open('/docs', { key: 'tr_of_another_service', expected: [401] });
    await page.getByText('This key is not accepted').waitFor();
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('/api/overview').first().waitFor();
  });

  test('tries an operation with the key, which is not in the command to share; axe finds nothing wrong', async () => {
    const page = await openReference({ reducedMotion: 'reduce' }); // no colours between two
    await page.getByText('/api/endpoints/query/usage.api-counts').first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByLabel('project', { exact: true }).fill('aurora');
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('total_rest_requests').first().waitFor();
    const command = await page.locator('.curl-command pre').innerText();
    expect(command).toContain('project=aurora');
    expect(command).not.toContain(KEY);

    expect(await faultsOf(page)).toEqual([]);
    expect(await lightnessOf(page, '.opblock-summary-path', 'color')).toBeLessThan(110);
    await page.getByRole('radio', { name: 'Dark' }).check();
    expect(await faultsOf(page)).toEqual([]);
    expect(await lightnessOf(page, '.opblock-summary-path', 'color')).toBeGreaterThan(150);
    expect(await lightnessOf(page, '.operation-tag-content', 'backgroundColor')).toBeLessThan(60);
  });

  test('is not wider than the window, with an operation open', async () => {
    const page = await openReference({ viewport: { width: 360, height: 780 } });
    await page.getByText('/api/endpoints/query/usage.api-counts').first().click();
    await page.locator('.opblock.is-open .responses-inner').waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 2560, height: 1440 });
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  });
});
