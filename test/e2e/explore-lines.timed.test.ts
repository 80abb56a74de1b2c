import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsInBothSchemes, KEY, open, signIn, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });
const headsOf = (page: Page) => linesOf(page).locator('.line-head');
const eventsOf = (page: Page) => page.getByRole('region', { name: 'Events', exact: true });
/** Where something is in the list, px from its top: what is above the list may change its height. */
async function placeOf(page: Page, what: Locator): Promise<number> {
  const [list, box] = [await linesOf(page).boundingBox(), await what.boundingBox()];
  return (box?.y ?? Number.NaN) - (list?.y ?? Number.NaN);
}
/** Its place once that has stopped changing: the height of a line is measured after it was drawn. */
async function settledPlaceOf(page: Page, what: Locator): Promise<number> {
  let last = Number.NaN;
  const isSettled = async () => {
    const before = last;
    last = await placeOf(page, what);
    return last === before;
  };
  await expect.poll(isSettled).toBe(true);
  return last;
}
const newOf = (page: Page) => page.getByRole('button', { name: /^[\d,]+ new$/ });
const addressOf = (page: Page) => new URL(page.url()).searchParams;

async function send(events: readonly object[]): Promise<void> {
  const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=postgres.logs`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

const create = (project: string, count: number, text: string) =>
  Array.from({ length: count }, (_, i) => ({ project, event_message: `${text} ${i}`, metadata: { i } }));

/** A project with `count` lines, followed live. */
async function follow(project: string, count: number, more = ''): Promise<Page> {
  await send(create(project, count, 'before'));
  const page = await open(`/explore?project=${project}&live=1${more}`, { key: KEY });
  await eventsOf(page).getByText(`${count} lines, all`, { exact: true }).waitFor();
  return page;
}

describe('live lines', () => {
  test('wait while a record is open, which stays where it is; a click shows them', async () => {
    const project = `open-${Date.now()}`;
    const page = await follow(project, 3);
    await headsOf(page).nth(1).click();
    const record = linesOf(page).locator('.record');
    const before = await settledPlaceOf(page, record);
    for (let i = 0; i < 3; i++) await send(create(project, 40, `burst ${i}`));
    await newOf(page).filter({ hasText: '120 new' }).waitFor();
    expect(await settledPlaceOf(page, record)).toBe(before);
    expect(await headsOf(page).count()).toBe(3);

    await newOf(page).click();
    await headsOf(page).filter({ hasText: 'burst 2 39' }).waitFor();
    await eventsOf(page).getByText('123 lines, all', { exact: true }).waitFor();
    expect(await newOf(page).count()).toBe(0);
    await send(create(project, 2, 'later')); // the record is still open
    await newOf(page).filter({ hasText: '2 new' }).waitFor();
    await linesOf(page).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
    await record.waitFor();
    await page.keyboard.press('k');
    await record.locator('xpath=..').locator('.line-head').click();
    await expect.poll(() => record.count()).toBe(0);
    await linesOf(page).evaluate((list) => list.scrollTo({ top: 0 }));
    await headsOf(page).filter({ hasText: 'later 1' }).waitFor();
    expect(await newOf(page).count()).toBe(0);
  });

  test('wait while older ones are looked at, which stay in their place', async () => {
    const project = `away-${Date.now()}`;
    const page = await follow(project, 100);
    await linesOf(page).evaluate((list) => list.scrollTo({ top: 900 }));
    const seen = headsOf(page).filter({ hasText: /before 60$/ });
    const before = await placeOf(page, seen);
    await send(create(project, 30, 'burst'));
    await newOf(page).filter({ hasText: '30 new' }).waitFor();
    expect(await placeOf(page, seen)).toBe(before);
    await newOf(page).click();
    await headsOf(page).filter({ hasText: 'burst 29' }).waitFor();
  });

  test('a search that repeats itself waits for an open record, too', async () => {
    const page = await open('/', { key: KEY });
    await page.clock.install();
    let searches = 0;
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/api/search' && !url.searchParams.has('part')) searches++;
    });
    await page.goto(`${URL_OF_SERVICE}/explore?refresh=60`);
    await headsOf(page).first().click();
    await linesOf(page).locator('.record').waitFor();
    expect(searches).toBe(1);
    await page.clock.fastForward(60_000);
    await headsOf(page).first().click();
    await expect.poll(() => linesOf(page).locator('.record').count()).toBe(0);
    expect(searches).toBe(1);
    await page.clock.fastForward(60_000);
    await expect.poll(() => searches).toBe(2);
  });
});

describe('the lines around a line', () => {
  /** 100 events a second for four minutes, and 150 in the microsecond in the middle. */
  async function sendDense(project: string): Promise<{ from: string; until: string }> {
    const middleMs = Math.floor(Date.now() / 1000) * 1000 - 600_000;
    const at = (ms: number, micros = '000') => new Date(ms).toISOString().replace('Z', `${micros}Z`);
    const stream = Array.from({ length: 24_000 }, (_, i) => ({
      ...{ project, event_message: `stream ${i}`, metadata: {} },
      timestamp: at(middleMs + (i - 12_000) * 10),
    }));
    const burst = Array.from({ length: 150 }, (_, i) => ({
      ...{ project, event_message: `burst ${i}`, metadata: {} },
      timestamp: at(middleMs, '457'),
    }));
    await send(burst);
    for (let i = 0; i < stream.length; i += 8_000) await send(stream.slice(i, i + 8_000));
    return { from: at(middleMs - 200_000), until: at(middleMs + 200_000) };
  }

  /** Of the marked line from the middle of the list, in px. */
  async function offCentre(page: Page): Promise<number> {
    const [list, line] = [
      await linesOf(page).boundingBox(),
      await linesOf(page).locator('.marked .line-head').boundingBox(),
    ];
    if (list === null || line === null) return Number.POSITIVE_INFINITY;
    return Math.abs(line.y + line.height / 2 - (list.y + list.height / 2));
  }

  test('have it in the middle, marked, wherever it was and however many there are', async () => {
    const project = `dense-${Date.now()}`;
    const { from, until } = await sendDense(project);
    const wanted = ['stream 12001', 'burst 75', 'burst 149', 'stream 300', 'stream 23990'];
    for (const message of wanted) {
      const q = encodeURIComponent(`"${message}"`);
      const page = await open(`/explore?project=${project}&from=${from}&until=${until}&q=${q}`, { key: KEY });
      const head = headsOf(page).filter({ hasText: new RegExp(`${message}$`) });
      await head.click();
      await linesOf(page).getByRole('link', { name: 'Around this line' }).click();
      const marked = linesOf(page).locator('.marked');
      await expect.poll(() => offCentre(page), { timeout: 60_000 }).toBeLessThan(30);
      expect(await marked.locator('.line-message').innerText()).toBe(message);
      expect(addressOf(page).has('q')).toBe(false);
      expect(await linesOf(page).locator('.record').count()).toBe(0);
      await expect
        .poll(() => marked.locator('.line-head').evaluate((one) => one === document.activeElement))
        .toBe(true);

      const index = Number(await marked.getAttribute('data-index'));
      const count = await eventsOf(page).getByText(/lines/).first().innerText();
      expect(index).toBeGreaterThan(message === 'stream 23990' ? 8 : 150);
      expect(Number(/[\d,]+/.exec(count)?.[0].replaceAll(',', ''))).toBeGreaterThan(index + 100);
      await page.context().close();
    }
  }, 240_000);

  test('are read on in both directions, and stay in their place', async () => {
    const project = `both-${Date.now()}`;
    const { from, until } = await sendDense(project);
    const q = encodeURIComponent('"stream 12500"');
    const page = await open(`/explore?project=${project}&from=${from}&until=${until}&q=${q}`, { key: KEY });
    await headsOf(page).first().click();
    const link = await linesOf(page).getByRole('link', { name: 'Around this line' }).getAttribute('href');
    const other = await open(link ?? '');
    await signIn(other, KEY); // by an address that others can open
    await expect.poll(() => offCentre(other), { timeout: 60_000 }).toBeLessThan(30);
    expect(await faultsInBothSchemes(other)).toEqual([]);

    const countOf = async () =>
      Number((await eventsOf(other).getByText(/lines/).first().innerText()).replaceAll(/\D/g, ''));
    const before = await countOf();
    // Near the newest of them: more are read, and what is in sight stays.
    await linesOf(other).evaluate((list) => list.scrollTo({ top: 1_000 }));
    const same = headsOf(other).filter({
      hasText: new RegExp(`${await headsOf(other).nth(20).locator('.line-message').innerText()}$`),
    });
    const place = await placeOf(other, same);
    await expect.poll(countOf, { timeout: 60_000 }).toBeGreaterThan(before);
    await expect.poll(() => placeOf(other, same)).toBe(place);
    const later = await countOf(); // before the older ones are asked for, which may come at once
    await linesOf(other).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
    await expect.poll(countOf, { timeout: 60_000 }).toBeGreaterThan(later);
    const messages = await headsOf(other).locator('.line-message').allInnerTexts();
    const numbers = messages.map((one) => Number(one.replace('stream ', '')));
    expect(numbers).toEqual(numbers.toSorted((one, two) => two - one));
  }, 120_000);
});

describe('by keyboard', () => {
  test('Escape closes the record and / writes a search from any choice within it', async () => {
    const page = await open('/explore?source=postgres.logs', { key: KEY });
    await headsOf(page).first().waitFor();
    const query = page.getByRole('combobox', { name: 'Search', exact: true });
    const record = linesOf(page).locator('.record');
    await page.keyboard.press('j');
    for (let tabs = 1; tabs < 5; tabs++) {
      await page.keyboard.press('Enter');
      await record.waitFor();
      for (let i = 0; i < tabs; i++) await page.keyboard.press('Tab');
      await page.keyboard.press('Escape');
      await expect.poll(() => record.count()).toBe(0);
      await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('line-head');
    }
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio');
    await page.keyboard.press('/');
    await expect.poll(() => query.evaluate((one) => one === document.activeElement)).toBe(true);
    expect(await query.inputValue()).toBe('');
  });
});
