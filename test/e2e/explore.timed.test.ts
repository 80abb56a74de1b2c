import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { KEY, makeKey, open, signIn, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });
const headsOf = (page: Page) => linesOf(page).locator('.line-head');
const recordOf = (page: Page) => linesOf(page).locator('.record').first();
const histogramOf = (page: Page) => page.getByRole('region', { name: 'Events over time' });
const legendOf = (page: Page) => histogramOf(page).getByRole('list', { name: 'Series' });
const queryOf = (page: Page) => page.getByRole('combobox', { name: 'Search', exact: true });
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
  const row = recordOf(page)
    .locator('.record-fields > div')
    .filter({ has: page.getByText(field, { exact: true }) });
  await row.getByRole('button').click();
  await page.getByRole('menu', { name: field }).getByRole('menuitem', { name: item }).click();
}

/** Rows of a search, asked for past the console. */
async function search(parameters: Readonly<Record<string, string>>) {
  const response = await fetch(`${URL_OF_SERVICE}/api/search?${new URLSearchParams(parameters)}`, {
    headers: { 'x-api-key': KEY },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: Record<string, unknown>[] }).result;
}

async function send(events: readonly object[]): Promise<void> {
  const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=postgres.logs`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

describe('Explore', () => {
  test('shows the newest lines before it counts, both of the same events', async () => {
    const page = await open('/', { key: KEY });
    const asked: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/api/search') asked.push(url.searchParams.get('part') ?? 'rows');
    });
    await page.getByRole('navigation').getByRole('link', { name: 'Explore' }).click();
    await untilCounted(page);
    expect(asked.slice(0, 2)).toEqual(['rows', 'histogram']);
    const times = await headsOf(page)
      .locator('time')
      .evaluateAll((all) => all.map((one) => one.getAttribute('datetime') ?? ''));
    expect(times.length).toBeGreaterThan(10);
    expect(times).toEqual(times.toSorted().reverse());
    expect(await legendOf(page).innerText()).toMatch(/error[\s\S]*info/);
  });

  test('zooms to what is selected on the chart, by pointer and by keyboard, and back', async () => {
    const page = await explore('range=24h');
    const plot = histogramOf(page).getByRole('application');
    const over = plot.locator('.u-over');
    const box = await over.boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => addressOf(page).get('from')).not.toBeNull();
    const [from, until] = ['from', 'until'].map((name) => Date.parse(addressOf(page).get(name) ?? ''));
    expect(((until ?? 0) - (from ?? 0)) % 1_800_000).toBe(0); // whole time buckets
    expect((until ?? 0) - (from ?? 0)).toBeLessThan(8 * 3_600_000);
    await untilCounted(page);
    const shown = Date.parse((await headsOf(page).first().locator('time').getAttribute('datetime')) ?? '');
    expect(shown).toBeLessThan(until ?? 0);
    await page.goBack();
    await expect.poll(() => addressOf(page).get('range')).toBe('24h');
    await untilCounted(page);
    await plot.focus();
    for (const key of ['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key);
    await expect
      .poll(
        () => Date.parse(addressOf(page).get('until') ?? '') - Date.parse(addressOf(page).get('from') ?? ''),
      )
      .toBe(3 * 1_800_000);
  });

  test('filters for a value, excludes it, shows it as a column and copies it', async () => {
    const page = await explore('source=cloudflare.logs.prod', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await headsOf(page).first().click();
    const project = await recordOf(page).locator('dd').nth(3).innerText();
    await choose(page, 'request.method', 'Copy');
    const method = await page.evaluate(() => navigator.clipboard.readText());
    expect(method).toMatch(/^[A-Z]+$/);
    await choose(page, 'request.method', 'Add as column');
    await page.getByRole('button', { name: 'Remove the column request.method' }).waitFor();
    expect(await headsOf(page).first().innerText()).toContain(method);
    await choose(page, 'request.method', 'Filter for');
    await expect.poll(() => addressOf(page).get('q')).toBe(`request.method:${method}`);
    await untilCounted(page);
    await expect
      .poll(async () => new Set(await linesOf(page).locator('.line-head .line-cell').allInnerTexts()))
      .toEqual(new Set([method]));
    if ((await recordOf(page).count()) === 0) await headsOf(page).first().click();
    await choose(page, 'project', 'Exclude');
    await expect.poll(() => addressOf(page).get('q')).toMatch(/^request\.method:\w+ -project:\w+$/);
    await untilCounted(page);
    await page.getByRole('button', { name: 'Remove the column request.method' }).click();
    await expect.poll(() => addressOf(page).has('columns')).toBe(false);
    expect(project).not.toBe('');
  });

  test('filters by an entry of the legend, and counts by another field', async () => {
    const page = await explore();
    await legendOf(page)
      .getByRole('button', { name: /^error/ })
      .click();
    await expect.poll(() => addressOf(page).get('q')).toBe('level:error');
    await untilCounted(page);
    await expect
      .poll(async () => new Set(await linesOf(page).locator('.line-head .line-level').allInnerTexts()))
      .toEqual(new Set(['error']));
    await histogramOf(page).getByRole('combobox', { name: 'by' }).selectOption('source');
    await legendOf(page)
      .getByRole('button', { name: /^postgres\.logs/ })
      .waitFor();
    expect(addressOf(page).get('by')).toBe('source');
  });

  test('lists the top values of a field, and filters for one', async () => {
    const page = await explore('source=postgres.logs');
    await page.getByRole('button', { name: 'Fields', exact: true }).click();
    const fields = page.getByRole('complementary', { name: 'Fields' });
    await fields.getByLabel('Find a field').fill('level');
    await fields.getByRole('button', { name: /^level \d/ }).click();
    await fields.getByTitle('Filter for level: error').click();
    await expect.poll(() => addressOf(page).get('q')).toBe('level:error');
  });

  test('shows a line among those around it, marked and in sight, by an address that others can open', async () => {
    const page = await explore('q=level:error&source=postgres.logs&range=24h');
    await headsOf(page).nth(2).click();
    const message = await headsOf(page).nth(2).locator('.line-message').innerText();
    await recordOf(page).getByRole('link', { name: 'Around this line' }).click();
    await expect.poll(() => addressOf(page).get('at')).toMatch(/^\d{16}:postgres\.logs:/);
    expect(addressOf(page).has('q')).toBe(false);
    const marked = linesOf(page).locator('.line.marked');
    await marked.waitFor();
    expect(await marked.locator('.line-message').innerText()).toBe(message);
    const other = await open(page.url().slice(URL_OF_SERVICE.length));
    await signIn(other, KEY);
    await linesOf(other).locator('.line.marked').waitFor();
    expect(other.url()).toBe(page.url());
    const [list, line] = [
      await linesOf(other).boundingBox(),
      await linesOf(other).locator('.marked').boundingBox(),
    ];
    expect(line?.y).toBeGreaterThanOrEqual(list?.y ?? Number.NaN);
    expect(line?.y).toBeLessThan((list?.y ?? 0) + (list?.height ?? 0));
  });

  test('has an address for everything, and the back button returns to the search before', async () => {
    const page = await explore('source=postgres.logs&columns=project');
    await queryOf(page).fill('level:error');
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page).get('q')).toBe('level:error');
    await page.getByRole('button', { name: /^Time range:/ }).click();
    await page.getByRole('button', { name: 'Last 6 hours' }).click();
    await expect
      .poll(() => page.url())
      .toBe(`${URL_OF_SERVICE}/explore?q=level%3Aerror&source=postgres.logs&range=6h&columns=project`);
    await page.goBack();
    await expect.poll(() => addressOf(page).has('range')).toBe(false);
    await page.goBack();
    await expect.poll(() => queryOf(page).inputValue()).toBe('');
  });
});

test('a search is repeated in the chosen interval, but not while older lines are looked at', async () => {
  const page = await open('/', { key: KEY });
  await page.clock.install();
  let searches = 0;
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/api/search' && !url.searchParams.has('part')) searches++;
  });
  await page.goto(`${URL_OF_SERVICE}/explore?refresh=60`);
  await untilCounted(page);
  expect(searches).toBe(1);
  await page.clock.fastForward(60_000);
  await expect.poll(() => searches).toBe(2);
  await untilCounted(page);
  await linesOf(page).evaluate((list) => list.scrollTo({ top: 500 }));
  await expect.poll(() => headsOf(page).first().getAttribute('tabindex')).toBe('-1'); // the first one is out of sight
  await page.clock.fastForward(60_000);
  await page.getByRole('button', { name: 'Refresh', exact: true }).click();
  await expect.poll(() => searches).toBe(3);
});

describe('a long range', () => {
  test('is searched from newest to oldest; stopped, it keeps what is there and says that it is partial', async () => {
    const page = await open('/', { key: KEY });
    const held = Promise.withResolvers<void>();
    const aborted: string[] = [];
    page.on('requestfailed', (request) =>
      aborted.push(new URL(request.url()).searchParams.get('until') ?? ''),
    );
    const slices: string[] = [];
    await page.route('**/api/search?*', async (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (query.has('part')) return route.continue();
      slices.push(query.get('until') ?? '');
      if (slices.length === 3)
        await held.promise; // in flight until it is stopped
      else await route.continue();
    });
    await page.goto(`${URL_OF_SERVICE}/explore?range=7d&q=level:fatal`);
    await expect.poll(() => slices.length).toBe(3);
    expect(slices).toEqual(slices.toSorted().reverse());
    await page.getByText(/Searching back to .*, 2 of 7…/).waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    const events = page.getByRole('region', { name: 'Events', exact: true });
    await events.getByText(/Stopped back to .*, 2 of 7/).waitFor();
    await events.getByText('partial', { exact: true }).waitFor();
    expect(aborted).toContain(slices[2]);
    const lines = await headsOf(page).count();
    await events.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => slices.length).toBeGreaterThan(3);
    expect(slices[3]).toBe(slices[2]);
    held.resolve();
    await expect.poll(() => headsOf(page).count()).toBeGreaterThanOrEqual(lines);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('counts each slice once: together they are what one count of the whole range finds', async () => {
    const page = await explore('range=7d&q=level:error&source=postgres.logs');
    const counts = await search({
      ...{ q: 'level:error', source: 'postgres.logs', part: 'values', field: 'source' },
      from: new Date(Date.now() - 8 * 86_400_000).toISOString(),
    });
    const shown = async () =>
      Number((await histogramOf(page).locator('strong').innerText()).replaceAll(',', ''));
    await expect.poll(shown).toBe(Number(counts[0]?.['count']));
  });

  test('goes on after a failure from where it failed', async () => {
    const page = await open('/', { key: KEY, expected: [503] });
    let failures = 0;
    await page.route('**/api/search?*', async (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (query.get('part') !== 'histogram' || failures > 0) return route.continue();
      failures++;
      const error = {
        code: 'overloaded',
        message: 'too many queries',
        status: 503,
        request_id: 'r',
        errors: [],
      };
      return route.fulfill({ status: 503, json: { error } });
    });
    await page.goto(`${URL_OF_SERVICE}/explore`);
    await histogramOf(page).getByText('The counts failed: too many queries').waitFor();
    await headsOf(page).first().waitFor();
    await histogramOf(page).getByRole('button', { name: 'Retry' }).click();
    await legendOf(page).getByRole('listitem').first().waitFor();
  });
});

describe('lines', () => {
  test('by the thousand are a bounded number of elements, and are read on until ten thousand', async () => {
    const page = await explore('range=7d');
    const status = page.getByRole('region', { name: 'Events', exact: true }).getByText(/lines/).first();
    const count = async () => Number(/[\d,]+/.exec(await status.innerText())?.[0].replaceAll(',', ''));
    for (let last = 0, now = await count(); now < 10_000; now = await count()) {
      expect(now).toBeGreaterThan(last);
      last = now;
      await linesOf(page).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
      await expect.poll(count).toBeGreaterThan(last);
    }
    expect(await count()).toBe(10_000);
    await page.getByText('the most that are listed').waitFor();
    for (const share of [0, 0.3, 0.7, 1]) {
      await linesOf(page).evaluate((list, at) => list.scrollTo({ top: list.scrollHeight * at }), share);
      expect(await headsOf(page).count()).toBeLessThan(100);
    }
  }, 120_000);

  test('that come in are shown at once where the list is live, and wait while it is paused', async () => {
    const project = `live-${Date.now()}`;
    const page = await open(`/explore?project=${project}`, { key: KEY });
    await page.getByText('No events', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect.poll(() => addressOf(page).get('live')).toBe('1');
    await send([{ project, event_message: 'it came in', metadata: {} }]);
    await headsOf(page).filter({ hasText: 'it came in' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await send([{ project, event_message: 'it waits', metadata: {} }]);
    await page.getByRole('button', { name: /\d new/ }).waitFor();
    expect(await headsOf(page).filter({ hasText: 'it waits' }).count()).toBe(0);
    await page.getByRole('button', { name: /\d new/ }).click();
    await headsOf(page).filter({ hasText: 'it waits' }).waitFor();
    expect(await headsOf(page).locator('.line-message').allInnerTexts()).toEqual(['it waits', 'it came in']);
  });

  test('stay if they cannot be read anew', async () => {
    const page = await explore('range=24h', { expected: [503] });
    const lines = await headsOf(page).allInnerTexts();
    const error = {
      code: 'overloaded',
      message: 'too many queries',
      status: 503,
      request_id: 'r',
      errors: [],
    };
    await page.route('**/api/search?*', (route) => route.fulfill({ status: 503, json: { error } }));
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    const events = page.getByRole('region', { name: 'Events', exact: true });
    await events.getByText('The search failed: too many queries').waitFor();
    // The list has only the lines in sight, and the message takes the room of some.
    const kept = await headsOf(page).allInnerTexts();
    expect(kept.length).toBeGreaterThan(lines.length / 2);
    expect(kept).toEqual(lines.slice(0, kept.length));
    await page.unrouteAll({ behavior: 'wait' });
    await events.getByRole('button', { name: 'Retry', exact: true }).click();
    await events.getByText('200 lines', { exact: true }).waitFor();
  });

  test('that come in while older ones are read stay', async () => {
    const project = `slow-${Date.now()}`;
    const page = await open('/', { key: KEY });
    const held = Promise.withResolvers<void>();
    const slices = new Set<string>();
    await page.route('**/api/search?*', async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const isSlice = query.get('limit') === '200';
      if (isSlice) slices.add(query.get('until') ?? '');
      if (isSlice && slices.size === 2) await held.promise;
      await route.continue();
    });
    await send([{ project, event_message: 'it was there', metadata: {} }]);
    await page.goto(`${URL_OF_SERVICE}/explore?project=${project}&range=7d&live=1`);
    await expect.poll(() => slices.size).toBe(2);
    await send([{ project, event_message: 'it came in', metadata: {} }]);
    await headsOf(page).filter({ hasText: 'it came in' }).waitFor();
    held.resolve();
    await page.getByText('2 lines, all', { exact: true }).waitFor();
  });

  test('are saved as CSV and NDJSON, page by page', async () => {
    const page = await explore('range=24h&source=cloudflare.logs.prod');
    const status = async () => (await histogramOf(page).locator('strong').innerText()).replaceAll(',', '');
    const total = Math.min(10_000, Number(await status()));
    expect(total).toBeGreaterThan(1_000);
    await page.getByRole('button', { name: 'Download' }).click();
    for (const [name, header] of [
      ['CSV', 1],
      ['NDJSON', 0],
    ] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name, exact: true }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toBe(`search.${name.toLowerCase()}`);
      const text = await readFile(await file.path(), 'utf8');
      const rows = text
        .replaceAll(/"[^"]*"/g, name === 'CSV' ? '' : '$&')
        .trimEnd()
        .split('\n');
      expect(rows.length).toBe(total + header);
    }
  });
});

describe('by keyboard', () => {
  test('one searches, goes through lines, opens one, filters by a value and closes it', async () => {
    const page = await explore('source=postgres.logs');
    await page.locator('body').press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('body').press('/');
    await page.keyboard.type('level:error');
    await page.keyboard.press('Enter');
    await expect.poll(() => addressOf(page).get('q')).toBe('level:error');
    await untilCounted(page);
    await queryOf(page).evaluate((one) => (one as HTMLElement).blur()); // it is an input
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest('li')?.getAttribute('data-index'));
    await page.locator('body').press('j');
    await expect.poll(focused).toBe('0');
    await page.keyboard.press('j');
    await expect.poll(focused).toBe('1');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('2');
    await page.keyboard.press('k');
    await expect.poll(focused).toBe('1');
    await page.keyboard.press('Enter');
    await recordOf(page).waitFor();
    for (let i = 0; i < 5; i++) await page.keyboard.press('Tab');
    const value = () => page.evaluate(() => document.activeElement?.className ?? '');
    for (let i = 0; i < 5 && !(await value()).includes('record-value'); i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('menu').count()).toBe(0);
    expect(await recordOf(page).count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => recordOf(page).count()).toBe(0);
    await expect.poll(focused).toBe('1');
  });
});

describe('what is wrong', () => {
  test('with a search is shown at its place', async () => {
    const page = await open('/explore?q=level%3Aerror%20(a', { key: KEY, expected: [400] });
    await page
      .getByText(/has \( without \)/)
      .first()
      .waitFor();
    expect(await queryOf(page).getAttribute('aria-invalid')).toBe('true');
  });

  test('with a range or a source is said, and nothing is counted', async () => {
    const upsideDown = 'from=2026-11-20T08:00:00Z&until=2026-11-20T07:00:00Z';
    const page = await open(`/explore?${upsideDown}`, { key: KEY, expected: [400] });
    await page
      .getByRole('alert')
      .getByText(/must be before "until"/)
      .waitFor();
    const unknown = await open('/explore?source=no.such', { key: KEY, expected: [404] });
    await unknown
      .getByRole('alert')
      .getByText(/no\.such/)
      .waitFor();
    expect(await unknown.getByText('partial', { exact: true }).count()).toBe(0);
  });

  test('with the field to count by is said at the chart, and the lines are shown', async () => {
    const page = await open('/explore?by=timestamp', { key: KEY, expected: [400] });
    await histogramOf(page)
      .getByRole('alert')
      .getByText(/by must be another field/)
      .waitFor();
    await headsOf(page).first().waitFor();
  });

  test('if nothing is found: the fields that no source declares, the range and the sources', async () => {
    const page = await open('/explore?q=no.such%3A1&source=postgres.logs', { key: KEY });
    await page
      .getByText(/No event matches in postgres\.logs: last hour\..*no source declares no\.such/)
      .waitFor();
  });

  test('for a pinned key: its project is fixed, and it sees no other', async () => {
    const page = await open('/explore?project=basalt&columns=project', {
      key: await makeKey({ pins: { project: 'aurora' } }),
    });
    await page.getByTitle('Set by your key').getByText('aurora').waitFor();
    await headsOf(page).first().waitFor();
    expect(new Set(await linesOf(page).locator('.line-head .line-cell').allInnerTexts())).toEqual(
      new Set(['aurora']),
    );
  });
});
