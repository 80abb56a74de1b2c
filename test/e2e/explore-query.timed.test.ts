import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  faultsInBothSchemes,
  makeKey,
  type OpenOptions,
  open,
  overflowOf,
  startBrowser,
  URL_OF_SERVICE,
} from './sampled.ts';

startBrowser();

// Everything here works with the scope `query` alone.
let key: string;
beforeAll(async () => {
  key = await makeKey({ name: 'explores' });
});

async function openExplore(path = '/explore?range=7d', options: OpenOptions = {}): Promise<Page> {
  const page = await open(path, { key, ...options });
  await queryOf(page).waitFor();
  return page;
}

const queryOf = (page: Page) => page.getByRole('combobox', { name: 'Search', exact: true });
const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const optionsOf = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');

async function run(page: Page, text: string): Promise<void> {
  await queryOf(page).fill(text);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
}

describe('the query field', () => {
  test('completes a field and a value by keyboard, and Enter runs the search', async () => {
    const page = await openExplore();
    const query = queryOf(page);
    await query.focus();
    await page.keyboard.type('-timeout lev');
    await optionsOf(page).filter({ hasText: 'level' }).first().waitFor();
    await page.keyboard.press('Tab');
    expect(await query.inputValue()).toBe('-timeout level:');
    const values = optionsOf(page);
    await values.filter({ hasText: 'error' }).waitFor();
    await page.keyboard.type('err');
    await expect.poll(() => values.count()).toBe(1);
    expect(await query.getAttribute('aria-activedescendant')).toBeNull();
    await page.keyboard.press('ArrowDown');
    const active = await query.getAttribute('aria-activedescendant');
    expect(active).toBe(await values.first().getAttribute('id'));
    await page.keyboard.press('Enter');
    expect(await query.inputValue()).toBe('-timeout level:error ');
    expect(await query.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('Control+z');
    expect(await query.inputValue()).toBe('-timeout level:err');
    await page.keyboard.press('Control+Shift+z');
    expect(await query.inputValue()).toBe('-timeout level:error ');
    await page.keyboard.press('Escape');
    expect(addressOf(page)['q']).toBeUndefined();
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page)['q']).toBe('-timeout level:error');
  });

  test('Escape closes the list, and Enter runs the text if nothing is selected', async () => {
    const page = await openExplore();
    const query = queryOf(page);
    await query.focus();
    await page.keyboard.type('lev');
    await optionsOf(page).first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => optionsOf(page).count()).toBe(0);
    await page.keyboard.type('e');
    await optionsOf(page).first().waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page)['q']).toBe('leve');
    expect(await optionsOf(page).count()).toBe(0);
  });

  test('a click inserts a value, and the next search has other values', async () => {
    const page = await openExplore('/explore?range=7d&q=level%3Aerror');
    await queryOf(page).fill('level:');
    await optionsOf(page).filter({ hasText: 'warn' }).click();
    expect(await queryOf(page).inputValue()).toBe('level:warn ');
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page)['q']).toBe('level:warn');
  });

  test('marks a syntax error at its place until the text changes', async () => {
    const page = await openExplore('/explore?range=7d', { expected: [400] });
    const query = queryOf(page);
    await run(page, 'timeout (level:error');
    await page.getByText('The search has ( without )').waitFor();
    expect(await query.getAttribute('aria-invalid')).toBe('true');
    const mark = page.locator('.query-mark');
    expect(await mark.textContent()).toBe('timeout (');
    expect(await mark.locator('mark').textContent()).toBe('(');
    await query.press('End');
    await page.keyboard.type(')');
    await expect.poll(() => mark.count()).toBe(0);
    expect(await query.getAttribute('aria-invalid')).toBe('false');
  });

  test('offers the searches of this tab while it is empty', async () => {
    const page = await openExplore();
    await run(page, 'level:fatal');
    await expect.poll(() => addressOf(page)['q']).toBe('level:fatal');
    await run(page, '');
    await expect.poll(() => addressOf(page)['q']).toBeUndefined();
    await queryOf(page).click();
    const first = optionsOf(page).first();
    await expect.poll(() => first.textContent()).toBe('level:fatalrecent');
    await first.click();
    expect(await queryOf(page).inputValue()).toBe('level:fatal');
  });

  test('says so if values cannot be read, and stays as it is', async () => {
    const page = await openExplore('/explore?range=7d', { expected: [503] });
    await page.route(/part=values/, (route) => route.fulfill({ status: 503, body: '{}' }));
    await queryOf(page).fill('level:');
    await page.getByText('Values could not be read.').first().waitFor();
    expect(await optionsOf(page).allTextContents()).toContain('>=at least');
    expect(await queryOf(page).inputValue()).toBe('level:');
  });

  test('colours a text that is longer than the field, and scrolls with it', async () => {
    const page = await openExplore();
    const text = `level:error ${'word '.repeat(60)}"end`;
    await queryOf(page).focus();
    await page.keyboard.insertText(text);
    const shown = page.locator('.query-paint > div');
    expect(await shown.textContent()).toBe(text);
    const shiftOf = () => shown.evaluate((one) => Number.parseFloat(one.style.translate));
    const scrolled = await queryOf(page).evaluate((one) => one.scrollLeft);
    expect(scrolled).toBeGreaterThan(0);
    await expect.poll(shiftOf).toBeCloseTo(-scrolled, 0);
    await page.keyboard.press('Home');
    await expect.poll(shiftOf).toBeCloseTo(0, 0);
  });
});

describe('the time range', () => {
  const open = (page: Page) => page.getByRole('button', { name: /^Time range/ }).click();
  const panelOf = (page: Page) => page.getByRole('dialog', { name: 'Time range' });

  test('a quick range is one choice', async () => {
    const page = await openExplore('/explore');
    await open(page);
    await panelOf(page).getByRole('button', { name: 'Last 6 hours' }).click();
    await expect.poll(() => addressOf(page)['range']).toBe('6h');
    await page.getByRole('button', { name: 'Time range: Last 6 hours' }).waitFor();
    expect(await panelOf(page).count()).toBe(0);
  });

  test('an absolute range is in the displayed zone; what is wrong is said at its field', async () => {
    const page = await openExplore();
    await open(page);
    const panel = panelOf(page);
    const field = (name: string) => panel.getByLabel(name, { exact: true });
    await field('Until').fill('');
    await panel.getByRole('button', { name: 'Apply' }).click();
    await panel.getByText('is empty or incomplete').waitFor();
    expect(await field('Until').getAttribute('aria-invalid')).toBe('true');
    await field('From').fill('2024-07-01');
    await field('From, time').fill('9:00'); // 24 hours in every locale
    await field('Until').fill('2019-01-01');
    await field('Until, time').fill('00:00:30');
    await panel.getByText('must be later than From').waitFor();
    await field('Until').fill('2026-01-01');
    await field('Until, time').press('Enter');
    await expect
      .poll(() => addressOf(page))
      .toMatchObject({ from: '2024-07-01T07:00:00Z', until: '2025-12-31T23:00:30Z' });
    await page.getByText('2024-07-01 09:00:00 – 2026-01-01 00:00:30').waitFor();
  });

  test('a timestamp can be pasted, and Escape keeps the range', async () => {
    const page = await openExplore();
    await open(page);
    const from = panelOf(page).getByLabel('From', { exact: true });
    await from.evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', '1795176000123456');
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    expect(await from.inputValue()).toBe('2026-11-20');
    expect(await panelOf(page).getByLabel('From, time').inputValue()).toBe('13:00:00');
    await page.keyboard.press('Escape');
    expect(addressOf(page)).toEqual({ range: '7d' });
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toContain('Last 7 days');
  });

  test('is typed, moved by buttons and keys, and among the recent ones', async () => {
    const page = await openExplore();
    await open(page);
    await page.keyboard.type('now-40');
    await page.keyboard.press('Enter');
    await panelOf(page).getByText('"now-40" is not an instant').waitFor();
    await page.keyboard.type('m');
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page)).toEqual({ range: '40m' });
    const later = page.getByRole('button', { name: 'Later', exact: true });
    expect(await later.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Earlier', exact: true }).click();
    await expect.poll(() => Object.keys(addressOf(page))).toEqual(['from', 'until']);
    await page.keyboard.press(']');
    await expect.poll(() => addressOf(page)).toEqual({ range: '40m' });
    await page.keyboard.press('o');
    await expect.poll(() => addressOf(page)).toEqual({ range: '80m' });
    await open(page);
    await panelOf(page).getByRole('button', { name: 'Last 40 minutes' }).click();
    await expect.poll(() => addressOf(page)).toEqual({ range: '40m' });
  });

  test('the interval of refreshes is in the address', async () => {
    const page = await openExplore();
    await page.getByRole('combobox', { name: 'Refresh automatically' }).selectOption('30 s');
    await expect.poll(() => addressOf(page)['refresh']).toBe('30');
  });
});

describe('saved searches', () => {
  const panelOf = (page: Page) => page.getByRole('dialog', { name: 'Saved searches' });
  const openSaved = (page: Page) => page.getByRole('button', { name: 'Saved', exact: true }).click();

  test('are saved, opened, replaced and deleted', async () => {
    const answered = Promise.withResolvers<void>();
    const own = { key: await makeKey({ name: 'saves' }) };
    const page = await openExplore('/explore?range=6h&q=level%3Aerror', own);
    const panel = panelOf(page);
    const save = async () => {
      await panel.getByLabel('Name of this search').fill(' failures ');
      await panel.getByRole('button', { name: 'Save', exact: true }).click();
    };
    await openSaved(page);
    await panel.getByText('You have no saved searches yet.').waitFor();
    await save();
    await panel.getByText('Saved as failures.').waitFor();
    await page.keyboard.press('Escape');

    await run(page, 'level:fatal');
    await expect.poll(() => addressOf(page)['q']).toBe('level:fatal');
    // Until the names are known, nothing can be replaced by mistake.
    await page.route(/\/api\/searches$/, async (route) => {
      await answered.promise;
      await route.continue();
    });
    await openSaved(page);
    await panel.getByLabel('Name of this search').fill('failures');
    expect(await panel.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    answered.resolve();
    await save();
    await panel.getByText('failures exists.').waitFor();
    await panel.getByText('level:error · 6h').waitFor();
    await panel.getByRole('button', { name: 'Replace' }).click();
    await panel.getByText('level:fatal · 6h').waitFor();

    const other = await openExplore('/explore', own);
    await openSaved(other);
    await panelOf(other)
      .getByRole('button', { name: /^failures/ })
      .click();
    await expect.poll(() => addressOf(other)).toEqual({ q: 'level:fatal', range: '6h' });
    expect(await queryOf(other).inputValue()).toBe('level:fatal');

    await openSaved(other);
    await panelOf(other).getByRole('button', { name: 'Delete failures' }).click();
    await panelOf(other).getByRole('button', { name: 'Delete for good failures' }).click();
    await panelOf(other).getByText('You have no saved searches yet.').waitFor();
  });

  test('are shared with others, who open them and cannot delete them', async () => {
    const name = `shared ${crypto.randomUUID()}`;
    const author = `author ${crypto.randomUUID()}`;
    const page = await openExplore('/explore?range=6h&q=level%3Aerror', {
      key: await makeKey({ name: author }),
    });
    await openSaved(page);
    const panel = panelOf(page);
    await panel.getByLabel('Name of this search').fill(name);
    await panel.getByLabel('Who sees it').selectOption('For all who see the same events');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByText(`Saved as ${name}, for all who see the same events.`).waitFor();

    const other = await openExplore('/explore', { key: await makeKey({ name: 'reads' }) });
    await openSaved(other);
    const line = panelOf(other).getByRole('listitem').filter({ hasText: name });
    await line.getByText(`from ${author}`).waitFor();
    expect(await line.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
    await line.getByRole('button').click();
    await expect.poll(() => addressOf(other)).toEqual({ q: 'level:error', range: '6h' });

    // Replacing it shares it on.
    await panel.getByLabel('Name of this search').fill(name);
    expect(await panel.getByLabel('Who sees it').inputValue()).toBe('all');
    await panel.getByRole('button', { name: `Delete ${name}` }).click();
    await panel.getByRole('button', { name: `Delete for good ${name}` }).click();
    await panel.getByText(`Deleted ${name}.`).waitFor();
    await openSaved(other);
    await panelOf(other).getByText('You have no saved searches yet.').waitFor();
    expect(await panelOf(other).getByText(name).count()).toBe(0);
  });

  test('with a signed token the panel says why there are none', async () => {
    const response = await fetch(`${URL_OF_SERVICE}/api/tokens`, {
      method: 'POST',
      headers: { 'x-api-key': key },
    });
    const { token } = (await response.json()) as { token: string };
    const page = await openExplore('/explore', { key: token, expected: [403] }); // it opens no session
    await openSaved(page);
    await panelOf(page).getByText('a signed token has none').waitFor();
  });
});

/** What opens above the page. */
const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'the suggestions': async (page) => {
    await queryOf(page).fill('level:');
    await page.keyboard.press('ArrowDown');
    await optionsOf(page).filter({ hasText: 'error' }).waitFor();
  },
  'the syntax': (page) => page.getByRole('button', { name: 'Syntax' }).click(),
  'the time range': (page) => page.getByRole('button', { name: /^Time range/ }).click(),
  'the saved searches': async (page) => {
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    await page.getByText('You have no saved searches yet.').waitFor();
  },
};

describe('axe finds nothing wrong, and nothing is wider than a phone', { tags: 'slow' }, () => {
  test.each(Object.entries(STATES))('with %s', async (_name, act) => {
    const page = await openExplore('/explore?range=7d', {
      viewport: { width: 360, height: 780 },
    });
    await act(page);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await faultsInBothSchemes(page)).toEqual([]);
  });
});
