import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsOf, open, startBrowser, textsOf } from './browser.ts';
import { KEY, send, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });
const headsOf = (page: Page) => linesOf(page).locator('.line-head');
const recordOf = (page: Page) => linesOf(page).locator('.record').first();
const eventsOf = (page: Page) => page.getByRole('region', { name: 'Events', exact: true });
const histogramOf = (page: Page) => page.getByRole('region', { name: 'Events over time' });
const legendOf = (page: Page) => histogramOf(page).getByRole('list', { name: 'Series' });
const addressOf = (page: Page) => new URL(page.url()).searchParams;

/** Opens Explore and waits for its lines and counts. */
async function explore(address = '', options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const page = await open(`/explore?${address}`, { key: KEY, ...options });
  await untilCounted(page);
  return page;
}

async function untilCounted(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search', exact: true }).waitFor();
  await legendOf(page).getByRole('listitem').first().waitFor();
}

/** Chooses from the menu of a value of the open record. */
async function choose(page: Page, field: string, item: string): Promise<void> {
  const name = page.getByText(field, { exact: true });
  await recordOf(page).locator('.record-fields > div').filter({ has: name }).getByRole('button').click();
  await page.getByRole('menu', { name: field }).getByRole('menuitem', { name: item }).click();
}

const eventAt = (project: string, ms: number, event_message: string, more: object = {}) => ({
  ...{ project, event_message, timestamp: new Date(ms).toISOString(), ...more },
});

const create = (project: string, count: number, text: string) =>
  Array.from({ length: count }, (_, i) => ({ project, event_message: `${text} ${i}`, metadata: { i } }));

test('the search is narrowed from a record: copied, shown as a column, filtered for and excluded', async () => {
  const page = await explore('source=cloudflare.logs.prod&range=7d');
  await headsOf(page).first().click();
  await choose(page, 'request.method', 'Copy');
  const method = await page.evaluate(() => navigator.clipboard.readText());
  await choose(page, 'request.method', 'Add as column');
  await page.getByRole('button', { name: 'Remove the column request.method' }).waitFor();
  await choose(page, 'request.method', 'Filter for');
  await expect.poll(() => addressOf(page).get('q')).toBe(`request.method:${method}`);
  await untilCounted(page);
  await expect
    .poll(async () => new Set(await linesOf(page).locator('.line-head .line-cell').allInnerTexts()))
    .toEqual(new Set([method]));
  if ((await recordOf(page).count()) === 0) await headsOf(page).first().click();
  await choose(page, 'project', 'Exclude');
  await expect.poll(() => addressOf(page).get('q')).toMatch(/^request\.method:\w+ -project:\w+$/);
});

describe('lines', () => {
  test('have the keys at once after Enter in a search; Escape closes suggestions, then leaves a field', async () => {
    const page = await explore('range=7d');
    const query = page.getByRole('combobox', { name: 'Search' });
    const isFocused = (locator: Locator) => locator.evaluate((one) => one === document.activeElement);
    await page.keyboard.press('/');
    await page.keyboard.type('e');
    await page.keyboard.press('Enter');
    await untilCounted(page);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await expect.poll(() => isFocused(headsOf(page).nth(1))).toBe(true);
    expect(addressOf(page).get('q')).toBe('e');
    await page.keyboard.press('/');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('lev');
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('Escape');
    expect([await isFocused(query), await page.getByRole('listbox').count()]).toEqual([true, 0]);
    const project = page.getByLabel('Project');
    for (const field of [query, project]) {
      await field.focus();
      await page.keyboard.press('Escape');
      expect([await isFocused(field), await query.inputValue()]).toEqual([false, 'lev']);
    }
  });

  test('are paged through to the end while newer ones arrive: each once; live shows these', async () => {
    const project = `paging-${Date.now()}`;
    const startMs = Date.now() - 600_000;
    // Seven share an instant, so that pages end amid equals.
    const createFrom = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) =>
        eventAt(project, startMs + Math.floor((from + i) / 7) * 1000, `event ${from + i}`),
      );
    await send('cloudflare.logs.prod', createFrom(0, 450));
    const page = await explore(`project=${project}`);
    const status = eventsOf(page).getByRole('status').filter({ hasText: 'shown' });
    await status.filter({ hasText: 'newest 200 shown' }).waitFor();
    await send('cloudflare.logs.prod', createFrom(450, 30));
    const scrolled = async () => {
      await linesOf(page).evaluate((one) => one.scrollTo(0, one.scrollHeight));
      return await status.innerText();
    };
    // What arrived is newer than all that is shown: it moves no page and is not mixed into one.
    await expect.poll(scrolled).toBe('all 450 shown');
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByRole('button', { name: '30 new', exact: true }).click(); // the list is scrolled, so they wait
    await status.filter({ hasText: 'all 480 shown' }).waitFor();
    await linesOf(page).evaluate((one) => one.scrollTo(0, 0));
    await linesOf(page).getByText('event 479', { exact: true }).waitFor();
  });

  test('are shown oldest first: the newest at the end, older ones as one scrolls up, and live ones after them', async () => {
    const project = `order-${Date.now()}`;
    const startMs = Date.now() - 600_000;
    const createAt = (i: number) => eventAt(project, startMs + i * 1000, `event ${i}`);
    const events = Array.from({ length: 450 }, (_, i) => createAt(i));
    await send('cloudflare.logs.prod', events);
    const page = await explore(`project=${project}`);
    await page.getByRole('button', { name: 'Oldest first' }).click();
    await expect.poll(() => addressOf(page).get('order')).toBe('oldest');
    const lines = page.getByRole('region', { name: 'Lines, oldest first' });
    const last = lines.locator('.line-head').last();
    await expect.poll(() => last.innerText()).toContain('event 449');
    const status = eventsOf(page).getByRole('status').filter({ hasText: 'shown' });
    expect(await status.innerText()).toBe('newest 200 shown');
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('event 448');
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await send('cloudflare.logs.prod', [createAt(450)]);
    await expect.poll(() => last.innerText()).toContain('event 450');
    const scrolled = async () => {
      await lines.evaluate((one) => one.scrollTo(0, 0));
      return await lines.locator('.line-head').first().innerText();
    };
    await expect.poll(scrolled).toContain('event 0');
    expect(await status.innerText()).toBe('all 451 shown');
    await send('cloudflare.logs.prod', [createAt(451)]);
    await page.getByRole('button', { name: '1 new', exact: true }).click(); // the list is scrolled, so it waits
    await expect.poll(() => last.innerText()).toContain('event 451');
    expect(await faultsOf(page)).toEqual([]);
  });

  test('around one are shown, and the way back leads to it', async () => {
    const page = await explore('source=cloudflare.logs.prod&range=7d');
    await headsOf(page).nth(2).click();
    const text = await headsOf(page).nth(2).innerText();
    await page.getByRole('link', { name: 'Around this line' }).click();
    const marked = linesOf(page).locator('.line.is-marked > .line-head');
    await expect.poll(() => marked.innerText()).toBe(text);
    await expect.poll(() => addressOf(page).get('range')).toBe(null);
    await page.goBack();
    await expect.poll(() => addressOf(page).get('range')).toBe('7d');
    await expect.poll(() => marked.innerText()).toBe(text);
  });

  test('that arrive live are shown at once, and wait while a record is open or the list is paused', async () => {
    const project = `live-${Date.now()}`;
    const page = await open(`/explore?project=${project}`, { key: KEY });
    await page.getByText('No events', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect.poll(() => addressOf(page).get('live')).toBe('1');
    await send('postgres.logs', create(project, 3, 'first'));
    await eventsOf(page).getByText('all 3 shown', { exact: true }).waitFor();
    const newOf = (text: string) => page.getByRole('button', { name: `${text} new`, exact: true });
    await headsOf(page).nth(1).click();
    const text = await recordOf(page).innerText();
    for (let i = 0; i < 3; i++) await send('postgres.logs', create(project, 40, `burst ${i}`));
    await newOf('120').waitFor();
    expect([await headsOf(page).count(), await recordOf(page).innerText()]).toEqual([3, text]);
    await newOf('120').click();
    await headsOf(page).filter({ hasText: 'burst 2 39' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Pause' }).click();
    await send('postgres.logs', create(project, 2, 'later'));
    await newOf('2').click();
    await headsOf(page).filter({ hasText: 'later 1' }).waitFor();
  });
});

describe('views of a search', () => {
  test('patterns that the range before has not are marked and come first', async () => {
    const project = `patterns-${Date.now()}`;
    const at = (minutes: number, message: string) => eventAt(project, Date.now() - minutes * 60_000, message);
    const known = [90, 40, 20, 10].map((minutes) => at(minutes, `took ${minutes} ms`));
    await send('logs', [...known, at(30, 'disk is full')]);
    const page = await open(`/explore?project=${project}&view=patterns`, { key: KEY });
    const patterns = page.getByRole('list', { name: /^Patterns, new ones first/ }).getByRole('listitem');
    await expect
      .poll(() => textsOf(patterns))
      .toEqual([
        expect.stringMatching(/^1 .*new.*disk is full/),
        expect.stringMatching(/^3 (?!.*new).*took/),
      ]);
  });

  test('differences have no value that is as frequent in both sets', async () => {
    const project = `compare-${Date.now()}`;
    const create = (level: string, version: string) =>
      eventAt(project, Date.now() - 60_000, 'x', { level, metadata: { version, region: 'eu' } });
    await send('logs', [...Array(8).fill(create('error', '8')), ...Array(8).fill(create('info', '7'))]);
    const page = await open(`/explore?project=${project}&view=compare`, { key: KEY });
    const rows = page.getByRole('list', { name: /^Differences/ }).getByRole('listitem');
    const namesOf = async () => (await rows.allInnerTexts()).map((text) => text.split('\n')[0]);
    await expect.poll(namesOf).toContain('version');
    expect(await namesOf()).not.toContain('region');
  });

  test('all events of a trace are on a time line over every source', async () => {
    const project = `trace-${Date.now()}`;
    const startMs = Date.now() - 60_000;
    const create = (trace_id: string, ms: number, message: string) =>
      eventAt(project, startMs + ms, message, { metadata: { trace_id } });
    await send('logs', [create('4bf92f35', 0, 'begins'), create('other', 5, 'of another trace')]);
    await send('postgres.logs', [create('4bf92f35', 250, 'selects')]);
    const page = await open(`/explore?project=${project}&source=logs`, { key: KEY });
    await headsOf(page).filter({ hasText: 'begins' }).click();
    await recordOf(page).getByRole('button', { name: '4bf92f35' }).click();
    await page.getByRole('menuitem', { name: 'All events of this trace' }).click();
    const events = page.getByRole('list', { name: 'Events, oldest first' }).getByRole('listitem');
    await expect
      .poll(() => textsOf(events))
      .toEqual([
        expect.stringMatching(/^\+0 ms logs .*begins$/),
        expect.stringMatching(/^\+250 ms postgres.logs .*selects$/),
      ]);
  });
});
