import { describe, expect, test } from 'vitest';
import { faultsInBothSchemes, KEY, open, overflowOf, startBrowser } from './sampled.ts';

startBrowser();

const STATS = '/endpoints/functions.invocation-stats?project=aurora&interval=7day';
const USAGE = '/endpoints/usage.api-counts?project=aurora&interval=daily';
const LOGS = '/endpoints/logs.all?project=aurora&project_tier=PRO';

describe('the page of an endpoint', () => {
  test.each([
    [STATS, '.chart-plot'],
    [USAGE, '.chart-plot'],
    [LOGS, '.line-list'],
    [`${STATS}&ui.view=table`, '.data-table'],
  ])('%s has its answer above the fold at 1280×800', async (path, content) => {
    const page = await open(path, { key: KEY, viewport: { width: 1280, height: 800 } });
    const shown = page.locator(content).first();
    await shown.waitFor();
    const heading = await page.getByRole('heading', { name: 'Answer' }).boundingBox();
    const box = await shown.boundingBox();
    expect(heading?.y).toBeLessThan(400);
    expect((box?.y ?? 800) + Math.min(box?.height ?? 0, 220)).toBeLessThanOrEqual(800);
    const controls = await page.getByRole('form', { name: 'Parameters' }).locator('.input').all();
    const tops = await Promise.all(controls.map(async (one) => (await one.boundingBox())?.y));
    expect(new Set(tops).size).toBe(1);
  });

  test('has calls, columns and SQL in tabs', async () => {
    const page = await open(STATS, { key: KEY });
    const tabs = page.getByRole('tablist', { name: 'Parts' });
    await page.getByRole('region', { name: 'The call in curl' }).waitFor();
    await tabs.getByRole('tab', { name: 'Columns' }).click();
    await page.getByText('Invocations in the bucket.').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'The stored query' }).waitFor();
    expect(await page.getByRole('region', { name: /The call in/ }).count()).toBe(0);
  });

  test('shows the whole description of a parameter while its control has the focus', async () => {
    const page = await open(LOGS, { key: KEY });
    const tier = page.getByLabel('project_tier');
    const help = page.locator(`[id="${await tier.getAttribute('aria-describedby')}"]`);
    const isCut = () => help.evaluate((one) => one.scrollWidth > one.clientWidth);
    expect(await isCut()).toBe(true);
    const answer = page.getByRole('heading', { name: 'Answer' });
    const before = await answer.boundingBox();
    await tier.focus();
    expect(await isCut()).toBe(false);
    expect(await answer.boundingBox()).toEqual(before);
  });
});

describe('a table', () => {
  test('says how many columns are to the right, until it is scrolled there', async () => {
    const page = await open(`${STATS}&ui.view=table`, { key: KEY, viewport: { width: 360, height: 780 } });
    const table = page.getByRole('region', { name: 'Rows of the answer' });
    const note = page.locator(`[id="${await table.getAttribute('aria-describedby')}"]`);
    await expect.poll(() => note.innerText()).toMatch(/^[4-8] more columns to the right/);
    await table.focus();
    await table.evaluate((one) => one.scrollTo(one.scrollWidth, 0));
    await expect.poll(() => note.innerText()).toBe('');
    const wide = await open(`${STATS}&ui.view=table`, { key: KEY, viewport: { width: 1920, height: 780 } });
    await wide.getByRole('table', { name: 'Rows of the answer' }).waitFor();
    expect(await wide.getByText(/more columns? to the right/).count()).toBe(0);
  });
});

test.each([STATS, LOGS])('%s is not wider than a window of 360 to 2560 px', async (path) => {
  const page = await open(path, { key: KEY });
  await page.getByRole('list', { name: 'About this answer' }).waitFor();
  for (const tab of ['Columns', 'Table', 'SQL']) {
    await page.getByRole('tab', { name: tab }).click();
    for (const width of [360, 768, 1280, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    }
  }
});

test('axe finds nothing wrong with the parts of an endpoint', async () => {
  const page = await open(`${STATS}&ui.view=table`, { key: KEY, viewport: { width: 360, height: 780 } });
  await page.getByText(/more columns to the right/).waitFor();
  await page.getByRole('tab', { name: 'Columns' }).click();
  await page.getByLabel('interval').focus();
  expect(await faultsInBothSchemes(page)).toEqual([]);
});
