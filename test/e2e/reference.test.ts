import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { KEY, open, overflowOf, startBrowser } from './browser.ts';

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
    ]);
    expect(listed.filter((path) => /logs$|events|vector/.test(path))).toEqual(['/api/logs', '/v1/logs']);
    await page.getByText('The most recent log entries of a project').first().click();
    const description = page.locator('.opblock.is-open .opblock-description');
    expect(await description.innerText()).toMatch(/\/api\/endpoints\/query\/[0-9a-f-]{36}/);
    expect(await description.innerText()).toContain('POST takes the parameters');
  });

  test.each(['light', 'dark'] as const)('has %s colours where the system has', async (colorScheme) => {
    const page = await openReference({ colorScheme });
    const ground = await lightnessOf(page, 'body', 'backgroundColor');
    const isDark = colorScheme === 'dark';
    expect(ground < 60).toBe(isDark);
    expect(await lightnessOf(page, '#key', 'backgroundColor')).toBe(ground);
    for (const text of ['.swagger-ui .info .title', '.opblock-summary-description', '.docs-bar label']) {
      const lightness = await lightnessOf(page, text, 'color');
      expect(isDark ? lightness > 150 : lightness < 110, text).toBe(true);
    }
    await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' });
    await expect.poll(async () => (await lightnessOf(page, 'body', 'backgroundColor')) < 60).toBe(!isDark);
  });

  test('has the colours that were chosen in the console', async () => {
    const page = await open('/', { key: KEY });
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('/api/overview').first().waitFor();
    expect(await lightnessOf(page, 'body', 'backgroundColor')).toBeLessThan(60);
  });

  test('is not wider than a phone, with an operation open', async () => {
    const page = await openReference({ viewport: { width: 360, height: 780 } });
    await page.getByText('/api/endpoints/query/usage.api-counts').first().click();
    await page.locator('.opblock.is-open .responses-inner').waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  });
});
