import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { INCIDENT } from '../../src/sample/source.ts';
import { ownFolder } from '../support/service.ts';
import { open, startBrowser } from './browser.ts';
import { KEY, startWithSample } from './service.ts';

// What the console costs its user: bytes, clicks, and what is drawn.
const PROJECTS = ['aurora', 'basalt', 'cobalt', 'dahlia'];
const panels = (endpoint: string, more: string) =>
  PROJECTS.map(
    (project) => `{ endpoint: ${endpoint}, parameters: { project: ${project}, ${more} }, title: ${project} }`,
  );
const ROWS = [
  panels('functions.invocation-stats', 'interval: 1day'),
  panels('usage.api-counts', 'interval: hourly'),
  panels('usage.api-counts', 'interval: daily'),
];
const dashboards = await ownFolder();
await writeFile(
  join(dashboards.path, 'twelve.yaml'),
  `id: 0f0c0f6c-58b5-4d55-8e0c-5e2f4a9f3b99\nname: twelve\ntitle: Twelve\nrows: [${ROWS.map((row) => `{ panels: [${row.join(', ')}] }`).join(', ')}]\n`,
);
const env = { TAILRACE_DASHBOARDS_DIR: dashboards.path };
const { url, close } = await startWithSample({ rows: 60_000, days: 1 }, env);
startBrowser(url);
afterAll(close);

test.each([
  [210, '/', '.source-line'],
  [310, '/explore', '.line-head'],
  [500, '/workbench?endpoint=usage.api-counts', '.cm-content'],
])('the first load takes at most %i KB: %s', async (kilobytesMax, path, shown) => {
  const page = await open('/health', { key: KEY, apart: true });
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('Network.enable');
  const paths = new Map<string, string>();
  const bytes = new Map<string, number>();
  debugging.on('Network.requestWillBeSent', ({ requestId, request }) =>
    paths.set(requestId, new URL(request.url).pathname),
  );
  debugging.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const name = paths.get(requestId) ?? '';
    if (!name.startsWith('/api/')) bytes.set(name, encodedDataLength);
  });
  await page.goto(url + path);
  await page.locator(shown).first().waitFor();
  await page.waitForLoadState('networkidle');
  const listed = [...bytes].toSorted((a, b) => b[1] - a[1]).map(([name, size]) => `${size} ${name}`);
  const sum = [...bytes.values()].reduce((all, size) => all + size, 0);
  expect(sum, listed.join('\n')).toBeGreaterThan(50_000);
  expect(sum, listed.join('\n')).toBeLessThanOrEqual(kilobytesMax * 1_000);
});

test.each([
  ['a function, from the gateway', 'cloudflare.logs.prod', 'request.path', `/functions/v1/${INCIDENT.name}`],
  ['a version, from the functions', 'deno-relay-logs', 'version', '8'],
])(
  'from the first page to the cause of the incident it is two clicks and no key: %s',
  async (_, source, field, value) => {
    const page = await open('/', { key: KEY });
    const did = { click: 0, keydown: 0 };
    await page.exposeFunction('count', (event: keyof typeof did) => did[event]++);
    await page.evaluate(() => {
      const { count } = window as unknown as { count: (event: string) => void };
      for (const name of ['click', 'keydown']) addEventListener(name, () => count(name), { capture: true });
    });
    const errors = page.locator('.source-line', { hasText: source }).getByTitle('Explore them').first();
    await errors.click();
    await page
      .getByRole('radio', { name: 'Compare' })
      .or(page.getByRole('tab', { name: 'Compare' }))
      .click();
    const first = page.getByRole('list', { name: /^Differences/ }).getByRole('listitem');
    await first.filter({ hasText: field }).filter({ hasText: value }).first().waitFor();
    const found = (await first.allInnerTexts()).slice(0, 3).map((text) => text.split('\n').slice(0, 2));
    expect(found).toContainEqual([field, value]);
    expect(did).toEqual({ click: 2, keydown: 0 });
  },
);

test('a dashboard draws each of twelve panels once, as its answer comes', async () => {
  const path = '/dashboards/twelve';
  const readAll = async (page: Page) => {
    await expect.poll(() => page.locator('.dashboard-panel').count()).toBe(12);
    await expect.poll(() => page.locator('.dashboard-note').count()).toBe(0);
  };
  await readAll(await open(path, { key: KEY })); // the answers are warm
  const page = await open('/health', { key: KEY });
  await page.addInitScript(() => {
    const seen = { charts: 0, draws: 0, drawnMs: 0 };
    Object.assign(window, { seen });
    new MutationObserver((changes) => {
      for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
        if (node instanceof Element && node.matches('.uplot')) seen.charts++;
    }).observe(document, { childList: true, subtree: true });
    // The first call of each drawing.
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
      seen.draws++;
      seen.drawnMs = performance.now();
      clearRect.apply(this, area);
    };
  });
  await page.goto(url + path);
  await readAll(page);
  const drawn = await page.evaluate(() => {
    const { seen } = window as unknown as { seen: Record<'charts' | 'draws' | 'drawnMs', number> };
    const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const own = all.filter(({ name }) => name.includes('/api/endpoints/query/'));
    const firstMs = Math.min(...own.map(({ responseStart }) => responseStart));
    return { charts: seen.charts, draws: seen.draws, ms: seen.drawnMs - firstMs, requests: own.length };
  });
  const charts = await page.locator('.uplot').count();
  expect(drawn).toEqual({ charts, draws: charts, ms: expect.any(Number), requests: 12 });
  expect(drawn.ms).toBeLessThan(1_500); // some 270 on a busy machine with two cores; the goal is 300
});
