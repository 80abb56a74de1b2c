import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsInBothSchemes, KEY, makeKey, open, rowsOf, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

/** How far the point of each series is above or below the plot, at the instant that is pointed at. */
async function outsideOf(page: Page, chart: string): Promise<number[]> {
  const figure = page.getByRole('figure', { name: chart });
  const plot = await figure.locator('.u-over').boundingBox();
  if (plot === null) throw new Error('the chart has no plot');
  const points = await figure.locator('.u-cursor-pt').all();
  const boxes = await Promise.all(points.map((point) => point.boundingBox()));
  return boxes.flatMap((box) => {
    if (box === null) return [];
    const middle = box.y + box.height / 2;
    return [Math.max(plot.y - middle, middle - plot.y - plot.height, 0)];
  });
}

describe('a chart of percentiles', () => {
  test.each([1280, 360])('has every series within its axis, the maximum too, at %i px', async (width) => {
    const rows = await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '7day' });
    const longest = rows.findIndex(
      (row) =>
        Number(row['max_execution_time']) ===
        Math.max(...rows.map((one) => Number(one['max_execution_time']))),
    );
    const page = await open('/endpoints/functions.invocation-stats?project=aurora&interval=7day', {
      key: KEY,
      viewport: { width, height: 860 },
    });
    const plot = page.getByRole('application', { name: /Execution time/ });
    await plot.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < longest; i++) await page.keyboard.press('ArrowRight');
    const outside = await outsideOf(page, 'Execution time');
    expect(outside).toHaveLength(5);
    expect(outside).toEqual([0, 0, 0, 0, 0]);
  });
});

const DAY = '/endpoints/functions.invocation-stats?project=aurora&interval=1day';
const WEEK = '/endpoints/functions.invocation-stats?project=aurora&interval=7day';
const USAGE = '/endpoints/usage.api-counts?project=aurora&interval=daily';
const COUNTS = 'Invocations';

const plotOf = (page: Page, chart: string) => page.getByRole('application', { name: new RegExp(chart) });
const barOf = (page: Page) => page.getByRole('group', { name: /^Selected:/ });
const linkOf = (page: Page, name: string) => barOf(page).getByRole('link', { name, exact: true });
/** The time that the cursor's tag shows. */
const timeOf = (page: Page) => page.locator('.chart-time').first().innerText();

async function addressOf(page: Page, name: string): Promise<Record<string, string>> {
  const href = (await linkOf(page, name).getAttribute('href')) ?? '';
  expect(href).toMatch(/^\/explore\?/);
  return Object.fromEntries(new URL(href, URL_OF_SERVICE).searchParams);
}

/** Events that a search finds, as Explore would list them. */
async function countLines(address: Record<string, string>): Promise<number> {
  const query = new URLSearchParams({ ...address, limit: '1000' });
  const response = await fetch(`${URL_OF_SERVICE}/api/search?${query}`, { headers: { 'x-api-key': KEY } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: unknown[] }).result.length;
}

async function drag(page: Page, chart: string, [from, to]: readonly [number, number]): Promise<void> {
  const box = await page.getByRole('figure', { name: chart }).locator('.u-over').boundingBox();
  if (box === null) throw new Error('the chart has no plot');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + (box.width * (from + to)) / 2, y);
  await page.mouse.move(box.x + box.width * to, y);
  await page.mouse.up();
}

describe('from a chart to its lines', () => {
  test('a click on a point leads to the events that it counts, and to its errors', async () => {
    const rows = await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '7day' });
    const page = await open(WEEK, { key: KEY });
    const plot = page.getByRole('figure', { name: COUNTS }).locator('.u-over');
    const box = await plot.boundingBox();
    await plot.click({ position: { x: (box?.width ?? 0) / 2, y: 40 } });
    const address = await addressOf(page, 'Show the lines');
    const row = rows.find((one) => Number(one['timestamp']) / 1000 === Date.parse(address['from'] ?? ''));
    expect(address).toEqual({
      source: 'deno-relay-logs',
      project: 'aurora',
      from: new Date(Number(row?.['timestamp']) / 1000).toISOString(),
      until: new Date(Number(row?.['timestamp']) / 1000 + 86_400_000).toISOString(),
    });
    expect(await countLines(address)).toBe(row?.['count']);
    const errors = await addressOf(page, 'Show the lines: Error count');
    expect(errors['q']).toBe('response.status_code:>=400');
    expect(await countLines(errors)).toBe(row?.['error_count']);
    await linkOf(page, 'Show the lines: Error count').click();
    expect(new URL(page.url()).pathname).toBe('/explore');
    expect(new URL(page.url()).searchParams.get('from')).toBe(address['from']);
  });

  test('a dragged range leads to its events, of each area, and is zoomed', async () => {
    const page = await open(USAGE, { key: KEY });
    await page.getByRole('figure', { name: 'Requests by area' }).waitFor();
    await drag(page, 'Requests by area', [0.27, 0.73]);
    expect(await addressOf(page, 'Show the lines: Auth')).toMatchObject({
      source: 'cloudflare.logs.prod',
      q: 'is_auth:true',
    });
    const { from = '', until = '' } = await addressOf(page, 'Show the lines');
    const days = (Date.parse(until) - Date.parse(from)) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(3);
    expect(days).toBeLessThanOrEqual(5);
    await barOf(page).getByRole('button', { name: 'Zoom' }).click();
    const plot = plotOf(page, 'Requests by area');
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor();
    await plot.dblclick();
    expect(await page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(0);
  });

  test('by keyboard: Shift with arrow keys selects, Enter opens, Escape closes', async () => {
    const page = await open(WEEK, { key: KEY });
    const plot = plotOf(page, COUNTS);
    await plot.focus();
    await page.keyboard.press('Home');
    const hour = await timeOf(page);
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowLeft');
    const { from = '', until = '' } = await addressOf(page, 'Show the lines');
    expect(Date.parse(until) - Date.parse(from)).toBe(2 * 86_400_000);
    await page.keyboard.press('Enter');
    await expect
      .poll(() => linkOf(page, 'Show the lines').evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.keyboard.press('Escape');
    expect(await barOf(page).count()).toBe(0);
    await expect.poll(() => plot.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press('Home');
    expect(await timeOf(page)).toBe(hour);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Explore', level: 1 }).waitFor();
  });

  test('is offered to keys that may search alone; others may zoom', async () => {
    const page = await open(WEEK, { key: await makeKey({ endpoints: ['functions.invocation-stats'] }) });
    await plotOf(page, COUNTS).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowRight');
    await barOf(page).getByRole('button', { name: 'Zoom' }).waitFor();
    expect(await barOf(page).getByRole('link').count()).toBe(0);
  });

  test('axe finds nothing wrong with a selection', async () => {
    const page = await open(DAY, { key: KEY, viewport: { width: 360, height: 780 } });
    await plotOf(page, COUNTS).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowRight');
    await barOf(page).waitFor();
    expect(await faultsInBothSchemes(page)).toEqual([]);
  });
});

describe('the charts of an answer', () => {
  test('show the same instant, by keyboard and by mouse', async () => {
    const rows = await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '7day' });
    const page = await open(WEEK, { key: KEY });
    const other = page.getByRole('figure', { name: 'Execution time' });
    await plotOf(page, COUNTS).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const max = Number(rows[1]?.['max_execution_time']);
    const shown = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 }).format(
      max < 1000 ? max : max / 1000,
    );
    await expect.poll(() => other.getByRole('listitem').first().innerText()).toContain(shown);
    expect(await outsideOf(page, 'Execution time')).toEqual([0, 0, 0, 0, 0]);
    const times = () => page.locator('.chart-time').allInnerTexts();
    expect(new Set(await times()).size).toBe(1);
    const before = await timeOf(page);
    await page.getByRole('figure', { name: COUNTS }).locator('.u-over').hover();
    await expect.poll(() => timeOf(page)).not.toBe(before);
    expect(await times()).toEqual([await timeOf(page), await timeOf(page)]);
  });

  test('say which buckets are partial: the range of seven days begins and ends within a day', async () => {
    const rows = await rowsOf('usage.api-counts', { project: 'aurora', interval: 'daily' });
    const page = await open(USAGE, { key: KEY });
    await plotOf(page, 'Requests by area').focus();
    await page.keyboard.press('Home');
    expect(await timeOf(page)).toMatch(/partial$/);
    await page.keyboard.press('ArrowRight');
    expect(await timeOf(page)).not.toMatch(/partial$/);
    await page.keyboard.press('End');
    const end = Date.parse(`${rows.at(-1)?.['timestamp']}Z`) + 86_400_000;
    expect(/partial$/.test(await timeOf(page))).toBe(end > Date.now());
    expect(await page.getByRole('figure').getByText('partial', { exact: true }).count()).toBe(1);
  });

  test('have days of UTC at half past five in India', async () => {
    const page = await open(USAGE, { key: KEY, timezoneId: 'Asia/Kolkata' });
    await plotOf(page, 'Requests by area').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await timeOf(page)).toMatch(/^\d{4}-\d\d-\d\d 05:30 – \d{4}-\d\d-\d\d 05:30/);
    await page.getByRole('radio', { name: 'UTC' }).check();
    await plotOf(page, 'Requests by area').focus();
    await page.keyboard.press('Home');
    expect(await timeOf(page)).toMatch(/ 00:00 – /);
  });

  test('name both hours of one name where the clock goes back', async () => {
    const page = await open('/endpoints/usage.api-counts', { key: KEY });
    await page.route('**/api/endpoints/query/**', (route) =>
      route.fulfill({
        headers: { 'content-type': 'application/json', date: 'Sun, 25 Oct 2026 04:00:00 GMT' },
        body: JSON.stringify({
          result: [0, 1, 2].map((hour) => ({
            timestamp: `2026-10-25T0${hour}:00:00`,
            total_rest_requests: 1,
            total_storage_requests: 0,
            total_auth_requests: 0,
            total_realtime_requests: 0,
          })),
        }),
      }),
    );
    await page.getByLabel('project').fill('aurora');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await plotOf(page, 'Requests by area').focus();
    const times: string[] = [];
    for (const key of ['Home', 'ArrowRight', 'ArrowRight']) {
      await page.keyboard.press(key);
      times.push((await timeOf(page)).replace(' · partial', ''));
    }
    expect(times).toEqual([
      '2026-10-25 02:00 – 02:00 (UTC+02:00 – UTC+01:00)',
      '2026-10-25 02:00 – 03:00 (UTC+01:00)',
      '2026-10-25 03:00 – 04:00 (UTC+01:00)',
    ]);
  });
});
