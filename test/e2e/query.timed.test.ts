import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type OpenOptions, open, startBrowser } from './browser.ts';
import { createKey, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const key = await createKey({ name: 'explores' }); // Explore needs the scope `query` only

async function openExplore(path = '/explore?range=7d', options: OpenOptions = {}): Promise<Page> {
  const page = await open(path, { key, ...options });
  await queryOf(page).waitFor();
  return page;
}

const queryOf = (page: Page) => page.getByRole('combobox', { name: 'Search', exact: true });
const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const optionsOf = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

test('the query field completes a field and a value by keyboard, and Enter runs the search', async () => {
  const page = await openExplore();
  const query = queryOf(page);
  await query.focus();
  await page.keyboard.type('-timeout lev');
  await optionsOf(page).filter({ hasText: 'level' }).first().waitFor();
  await page.keyboard.press('Tab');
  expect(await query.inputValue()).toBe('-timeout level:');
  await optionsOf(page).filter({ hasText: 'error' }).waitFor();
  await page.keyboard.type('err');
  await expect.poll(() => optionsOf(page).count()).toBe(1);
  await page.keyboard.press('ArrowDown');
  const active = await query.getAttribute('aria-activedescendant');
  expect(active).toBe(await optionsOf(page).first().getAttribute('id'));
  await page.keyboard.press('Enter');
  expect(await query.inputValue()).toBe('-timeout level:error ');
  await page.keyboard.press('Control+z');
  expect(await query.inputValue()).toBe('-timeout level:err');
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await expect.poll(() => addressOf(page)['q']).toBe('-timeout level:error');
});

const rangeOf = (page: Page) => page.getByRole('dialog', { name: 'Time range' });
const openRange = (page: Page) => page.getByRole('button', { name: /^Time range/ }).click();

test('the time range is typed, and moved by buttons and keys', async () => {
  const page = await openExplore();
  await openRange(page);
  await page.keyboard.type('now-40');
  await page.keyboard.press('Enter');
  await rangeOf(page).getByText('"now-40" is not an instant').waitFor();
  await page.keyboard.type('m');
  await page.keyboard.press('Enter');
  await expect.poll(() => addressOf(page)).toEqual({ range: '40m' });
  await press(page, 'Earlier');
  await expect.poll(() => Object.keys(addressOf(page))).toEqual(['from', 'until']);
  await page.keyboard.press(']');
  await expect.poll(() => addressOf(page)).toEqual({ range: '40m' });
  await page.keyboard.press('o');
  await expect.poll(() => addressOf(page)).toEqual({ range: '80m' });
});
