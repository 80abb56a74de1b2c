import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { QUERY_PATH, read } from '../support/http.ts';
import { open, run, startBrowser, textsOf } from './browser.ts';
import { KEY, newKey, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const STATS = 'functions.invocation-stats?project=aurora&interval=7day';
const USAGE = 'usage.api-counts?project=aurora&interval=daily';
const openEndpoint = (path: string, key = KEY) => open(`/endpoints/${path}`, { key });
const plotOf = (page: Page, chart: string) => page.getByRole('application', { name: new RegExp(chart) });
const rowsOf = async (path: string) => (await read(URL_OF_SERVICE, path)).result;
const searchOf = (page: Page) => new URL(page.url()).searchParams;

async function legendOf(page: Page, chart: string): Promise<string[]> {
  const entries = page.getByRole('figure', { name: chart }).getByRole('listitem');
  return await textsOf(entries.filter({ has: page.locator('.chart-legend-value') }));
}

describe('an endpoint', () => {
  test('of statistics is drawn, instant by instant', async () => {
    const rows = await rowsOf(`${QUERY_PATH}/${STATS}`);
    const page = await openEndpoint('functions.invocation-stats');
    await page.getByText('Fill in project above, and press Run.').waitFor();
    await page.getByLabel('project').fill('aurora');
    await page.getByLabel('interval').selectOption('7day');
    await run(page);
    await page.getByRole('figure', { name: 'Invocations' }).waitFor();
    const exact = (value: number) => value.toLocaleString('en');
    const sum = (name: string) => exact(rows.reduce((total, row) => total + Number(row[name]), 0));
    expect(await legendOf(page, 'Invocations')).toEqual([
      `Count ${sum('count')} in all`,
      `Error count ${sum('error_count')} in all`,
    ]);
    await plotOf(page, 'Invocations').focus();
    await page.keyboard.press('Home');
    const first = (name: string) => exact(Number(rows[0]?.[name]));
    await expect
      .poll(() => legendOf(page, 'Invocations'))
      .toEqual([`Count ${first('count')}`, `Error count ${first('error_count')}`]);
    // The charts of an answer show the same instant.
    const times = await page.locator('.chart-time').allInnerTexts();
    expect([times.length, new Set(times).size]).toEqual([2, 1]);
    expect(searchOf(page).toString()).toBe('project=aurora&interval=7day');
  });

  test('is a table that can be sorted, with its JSON, cache state and SQL; back returns to the values before', async () => {
    const page = await openEndpoint(USAGE);
    await page.getByRole('tab', { name: 'Table' }).click();
    const table = page.getByRole('table', { name: 'Rows of the answer' });
    await table.waitFor();
    const column = async () =>
      (await table.getByRole('row').locator('td:nth-child(2)').allInnerTexts()).map(Number);
    const values = await column();
    await table.getByRole('button', { name: 'total_rest_requests' }).click();
    expect([values.toSorted((a, b) => a - b), values.toSorted((a, b) => b - a)]).toContainEqual(
      await column(),
    );
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('region', { name: 'The answer as JSON' }).getByText('total_rest').first().waitFor();
    const about = page.getByRole('list', { name: 'About this answer' });
    await run(page);
    await about.filter({ hasText: /cache hit[\s\S]*old/ }).waitFor();
    await page.getByLabel('Bypass the cache').check();
    await run(page);
    await about.filter({ hasText: 'cache miss' }).waitFor();
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByRole('region', { name: 'The stored query' }).waitFor();
    await page.getByLabel('interval').selectOption('hourly');
    await run(page);
    await page.goBack();
    await expect.poll(() => page.getByLabel('interval').inputValue()).toBe('daily');
  });

  test('has only the own project for a pinned key, and no SQL', async () => {
    const key = await newKey({ pins: { project: 'aurora' } });
    const page = await openEndpoint('logs.all?project=basalt', key);
    await page.getByRole('list', { name: 'About this answer' }).waitFor();
    const project = page.getByLabel('project', { exact: false }).first();
    expect([await project.inputValue(), await project.isDisabled()]).toEqual(['aurora', true]);
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByText('The SQL needs the scope manage.').waitFor();
  });
});

const barOf = (page: Page) => page.getByRole('group', { name: /^Selected:/ });
const addressOf = async (page: Page, name: string) => {
  const href = await barOf(page).getByRole('link', { name, exact: true }).getAttribute('href');
  return Object.fromEntries(new URL(href ?? '', URL_OF_SERVICE).searchParams);
};

test('a click on a point of a chart leads to the events that it counts, and to its errors', async () => {
  const rows = await rowsOf(`${QUERY_PATH}/${STATS}`);
  const page = await openEndpoint(STATS);
  const plot = page.getByRole('figure', { name: 'Invocations' }).locator('.u-over');
  const box = await plot.boundingBox();
  await plot.click({ position: { x: (box?.width ?? 0) / 2, y: 40 } });
  const address = await addressOf(page, 'Show the lines');
  const row = rows.find((one) => Number(one['timestamp']) / 1000 === Date.parse(address['from'] ?? ''));
  const countLines = async (given: Record<string, string>) =>
    (await rowsOf(`/api/search?${new URLSearchParams({ ...given, limit: '1000' })}`)).length;
  expect(address).toMatchObject({ source: 'deno-relay-logs', project: 'aurora' });
  expect(await countLines(address)).toBe(row?.['count']);
  const errors = await addressOf(page, 'Show the lines: Error count');
  expect(errors['q']).toBe('response.status_code:>=400');
  expect(await countLines(errors)).toBe(row?.['error_count']);
});

test('the lines of log entries are read in Explore', async () => {
  const page = await openEndpoint('logs.all?project=aurora&iso_timestamp_start=2020-01-01T00:00:00Z');
  await page.getByRole('table', { name: 'Rows of the answer' }).waitFor();
  await page.getByRole('link', { name: 'Its lines in Explore' }).click();
  await page.getByRole('region', { name: 'Lines, newest first' }).locator('.line-head').first().waitFor();
  expect(Object.fromEntries(searchOf(page))).toMatchObject({
    ...{ project: 'aurora', from: '2020-01-01T00:00:00.000Z' },
    source: expect.stringContaining('cloudflare.logs.prod'),
  });
});
