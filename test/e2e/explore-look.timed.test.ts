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

const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });
const headsOf = (page: Page) => linesOf(page).locator('.line-head');
const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

async function send(events: readonly object[], source = 'postgres.logs'): Promise<void> {
  const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

test.each([
  [1440, 900],
  [390, 844],
])('the list of fields scrolls within the height of the lines at %i×%i', async (width, height) => {
  const page = await open('/explore', { key: KEY, viewport: { width, height } });
  await headsOf(page).first().waitFor();
  // The counts come after the lines, and their legend makes the page of a phone higher.
  const counted = page.locator('.histogram-head .number').filter({ hasText: /^[\d,]+ events$/ });
  await counted.waitFor();
  const pageHeight = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await pageHeight();
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  const fields = page.getByRole('complementary', { name: 'Fields' });
  await fields.getByRole('button').nth(20).waitFor({ state: 'attached' });
  expect(await pageHeight()).toBe(before);
  const [seen, all] = await fields.evaluate((one) => [one.clientHeight, one.scrollHeight]);
  expect(seen).toBeGreaterThan(100);
  expect(all).toBeGreaterThan(seen ?? 0);
  expect((await linesOf(page).boundingBox())?.height).toBeGreaterThan(100);
  await fields.getByRole('button').last().focus();
  await expect.poll(() => fields.evaluate((one) => one.scrollTop)).toBeGreaterThan(0);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('a copied link has the range as it is now; one that moves with the time is beside it', async () => {
  const page = await open('/explore?q=level:error&range=6h&refresh=60', { key: KEY, ...CLIPBOARD });
  await headsOf(page).first().waitFor();
  const beforeMs = Date.now();
  await page.getByRole('button', { name: 'Copy link', exact: true }).click();
  const fixed = new URL(await copied(page));
  expect(fixed.pathname).toBe('/explore');
  expect(fixed.searchParams.get('q')).toBe('level:error');
  expect([...fixed.searchParams.keys()].toSorted()).toEqual(['from', 'q', 'until']);
  const [from, until] = ['from', 'until'].map((name) => Date.parse(fixed.searchParams.get(name) ?? ''));
  expect(Math.abs((until ?? 0) - beforeMs)).toBeLessThan(60_000);
  expect(((until ?? 0) - (from ?? 0)) / 3_600_000).toBeCloseTo(6, 0);
  await page.getByRole('button', { name: 'Copy relative link' }).click();
  await expect.poll(() => copied(page)).toBe(page.url().replace('level:error', 'level%3Aerror'));

  const other = await open(fixed.pathname + fixed.search, { key: KEY, ...CLIPBOARD });
  await headsOf(other).first().waitFor();
  expect(await headsOf(other).first().innerText()).toBe(await headsOf(page).first().innerText());
  expect(await other.getByRole('button', { name: 'Copy relative link' }).count()).toBe(0);
});

test('Saved puts the focus on the name', async () => {
  const key = await makeKey({ name: 'saver' });
  const page = await open('/explore', { key });
  await page.getByRole('button', { name: 'Saved', exact: true }).click();
  const name = page.getByRole('textbox', { name: 'Name of this search' });
  await expect.poll(() => name.evaluate((one) => one === document.activeElement)).toBe(true);
  await page.keyboard.type('mine');
  await page.keyboard.press('Enter');
  await page.getByText('Saved as mine.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Saved', exact: true }).click(); // also with searches there
  await expect.poll(() => name.evaluate((one) => one === document.activeElement)).toBe(true);
});

test('a line shows no codes of terminals, control characters visibly, and the whole value of a cut cell', async () => {
  const project = `odd-${Date.now()}`;
  const long = `start ${'x'.repeat(150)} end`;
  const message = '\u001b[31merror\u001b[0m user\u202egnp.exe\0';
  await send([{ project, event_message: message, metadata: { long, code: '\u001b[1mbold\u001b[0m\u202e' } }]);
  const page = await open(`/explore?project=${project}&columns=long,code`, { key: KEY, ...CLIPBOARD });
  const shown = 'error user⟨U+202E⟩gnp.exe⟨U+0000⟩';
  await expect.poll(() => headsOf(page).first().locator('.line-message').innerText()).toBe(shown);
  const cells = headsOf(page).first().locator('.line-cell');
  expect(await cells.first().getAttribute('title')).toBe(long);
  expect(await cells.nth(1).innerText()).toBe('bold⟨U+202E⟩');
  await headsOf(page).first().click();
  const record = linesOf(page).locator('.record');
  await record.getByRole('button', { name: shown }).waitFor();
  await record.getByRole('button', { name: 'Copy JSON' }).click();
  const copy = async () =>
    (JSON.parse((await copied(page)) || '{}') as Record<string, unknown>)['event_message'];
  await expect.poll(copy).toBe(message); // exactly
  await record.getByRole('radio', { name: 'JSON' }).check();
  const json = await record.getByRole('region', { name: 'The event as JSON' }).innerText();
  expect(json).toContain('\\u001b[31merror');
  expect(json).toContain('user⟨U+202E⟩gnp');
  expect(json).not.toContain('\u202e');

  await send([{ project, event_message: message, metadata: { code: 'a\u202eb' } }], 'cloudflare.logs.prod');
  const list = await open(`/endpoints/logs.all?project=${project}`, { key: KEY });
  await list.locator('.line-head').filter({ hasText: shown }).click();
  expect(await list.locator('.record').innerText()).toContain('a⟨U+202E⟩b');
});

test('lines wrap, have the colours of their codes, and columns as wide as wished; the title names the search', async () => {
  const project = `wide-${Date.now()}`;
  const message = `${'word '.repeat(60)}\u001b[31mred\u001b[0m end`;
  await send([{ project, event_message: message, metadata: { code: 'x' } }]);
  const page = await open(`/explore?project=${project}&q=word&columns=code`, { key: KEY });
  const head = headsOf(page).first();
  await head.waitFor();
  expect(await page.title()).toBe('word · Explore · Tailrace');
  await head.getByText('red', { exact: true }).waitFor();
  const heightOf = async () => (await head.boundingBox())?.height ?? 0;
  const before = await heightOf();
  await page.getByRole('button', { name: 'Wrap', exact: true }).click();
  await expect.poll(heightOf).toBeGreaterThan(before + 10);
  const edge = page.getByRole('separator', { name: 'Width of code' });
  const cell = head.locator('.line-cell');
  const widthOf = async () => (await cell.boundingBox())?.width ?? 0;
  const width = await widthOf();
  await edge.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(widthOf).toBeCloseTo(width + 16, 0);
  const box = await edge.boundingBox();
  if (box === null) throw new Error('the edge is not shown');
  await page.mouse.move(box.x + 4, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 104, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await expect.poll(widthOf).toBeCloseTo(width + 116, 0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.reload(); // it is kept
  await expect.poll(widthOf).toBeCloseTo(width + 116, 0);
  await page.getByRole('button', { name: 'Colours', exact: true }).click();
  await expect.poll(() => head.locator('.ansi-red').count()).toBe(0);
  await edge.dblclick();
  await expect.poll(widthOf).toBeCloseTo(width, 0);
});

test('back returns to the line that was open, where it was', async () => {
  const page = await open('/explore?range=24h', { key: KEY });
  await headsOf(page).nth(5).waitFor();
  await linesOf(page).evaluate((list) => list.scrollTo({ top: 27 * 150 }));
  const first = linesOf(page).locator('li[data-index="155"] .line-head');
  await first.click();
  const text = await first.innerText();
  const head = headsOf(page).and(page.locator('[aria-expanded=true]'));
  const topOf = async () => (await head.boundingBox())?.y ?? 0;
  const top = await topOf();
  await expect.poll(() => page.evaluate(() => JSON.stringify(history.state))).toContain('open');
  // Which fields it has depends on the line.
  await linesOf(page).locator('.record .record-value').first().click();
  await page.getByRole('menuitem', { name: 'Filter for' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toMatch(/^[\w.]+:/);
  await page.goBack();
  await expect.poll(() => head.innerText()).toBe(text);
  await expect.poll(async () => Math.abs((await topOf()) - top)).toBeLessThan(3);
});

describe('an address without a page', () => {
  test('is 404 and shows the console, which says so; with a key or without', async () => {
    for (const key of [KEY, undefined]) {
      const other = await open('/docs', { ...(key !== undefined && { key }), expected: [404] });
      const response = await other.goto(`${URL_OF_SERVICE}/nope`);
      expect(response?.status()).toBe(404);
      await other.getByText('Page not found').waitFor();
      await other.getByRole('link', { name: 'API reference' }).waitFor();
      expect(await faultsInBothSchemes(other)).toEqual([]);
    }
  });
});

describe('the service', () => {
  test('counts searches of the console on the overview', async () => {
    const page = await open('/explore', { key: KEY });
    await headsOf(page).first().waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    const line = page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'Search', exact: true }) });
    await line.waitFor();
    expect(await line.getByRole('img').first().getAttribute('aria-label')).toMatch(/^[1-9][\d,]* requests?/);
    await line.getByRole('link', { name: 'Search', exact: true }).click();
    await headsOf(page).first().waitFor();
  });

  test('has the audit trail in the order of time, with the addresses of refusals', async () => {
    const entry = { action: 'refused', key_id: '', actor: '', address: '', count: 2 };
    const result = [
      {
        ...entry,
        id: 3,
        at: '2026-11-20T07:00:10Z',
        detail: 'unknown from 192.0.2.1, 2001:db8::7 and others',
      },
      {
        ...entry,
        id: 2,
        at: '2026-11-20T07:00:50Z',
        action: 'revoked',
        key_id: 'k',
        actor: 'cli',
        detail: '',
      },
      {
        ...entry,
        id: 1,
        at: '2026-11-20T07:00:00Z',
        action: 'created',
        key_id: 'k',
        actor: 'cli',
        detail: 'x',
      },
    ];
    const page = await open('/docs', { key: KEY });
    await page.route('**/api/keys/log?*', (route) => route.fulfill({ json: { result } }));
    await page.goto(`${URL_OF_SERVICE}/keys`);
    const trail = page.getByRole('region', { name: 'Audit trail' }).getByRole('listitem');
    await trail.nth(2).waitFor();
    const texts = await trail.locator('.trail-text').allInnerTexts();
    expect(texts.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'The shell revoked k',
      '2 requests refused: unknown key, from 192.0.2.1, 2001:db8::7 and others',
      'The shell created k: x',
    ]);
  });
});
