import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { KEY, open, rowsOf, startBrowser } from './browser.ts';

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
