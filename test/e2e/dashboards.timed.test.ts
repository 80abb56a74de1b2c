import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { DashboardView } from '../../src/management/dashboard-view.ts';
import { faultsInBothSchemes, KEY, makeKey, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const GATEWAY = '/dashboards/gateway?project=aurora';
const panelOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const none = { parameters: {}, show: null, title: null, columns: [], unit: null, text: null };

/** Opens a dashboard that the service does not have. */
async function openOwn(
  panels: readonly Partial<DashboardView['rows'][number]['panels'][number]>[],
  path = '',
) {
  const page = await open('/', { key: KEY, expected: [404] });
  const dashboard: DashboardView = {
    ...{ id: 'a0000000-0000-4000-8000-000000000001', name: 'own', title: 'Own', description: '' },
    ...{ range_seconds: 86_400, parameters: [{ name: 'project', default: 'aurora', pinned: null }] },
    rows: Array.from({ length: Math.ceil(panels.length / 4) }, (_, row) => ({
      height_px: 120,
      panels: panels
        .slice(row * 4, row * 4 + 4)
        .map((panel) => ({ endpoint: 'functions.invocation-stats', missing: false, ...none, ...panel })),
    })),
  };
  await page.route('**/api/dashboards/own', (route) => route.fulfill({ json: dashboard }));
  return { page, show: () => page.goto(`${URL_OF_SERVICE}/dashboards/own${path}`) };
}

describe('a dashboard', () => {
  test('shows its panels, whose charts share the time that is pointed at, a zoom, and lead to lines', async () => {
    const page = await open(GATEWAY, { key: KEY });
    const area = panelOf(page, 'Requests by area').getByRole('application');
    await area.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const times = page.locator('.chart-time');
    const days = panelOf(page, 'Requests by day').locator('.chart-time');
    await expect.poll(() => days.innerText()).not.toBe('');
    const both = () => Promise.all([days.innerText(), times.first().innerText()]);
    await expect.poll(async () => new Set(await both()).size).toBe(1);
    await page.keyboard.press('Shift+ArrowRight');
    const bar = page.getByRole('group', { name: /^Selected:/ });
    const href = (await bar.getByRole('link', { name: 'Show the lines: Auth' }).getAttribute('href')) ?? '';
    expect(Object.fromEntries(new URL(href, URL_OF_SERVICE).searchParams)).toMatchObject({
      ...{ source: 'cloudflare.logs.prod', project: 'aurora', q: 'is_auth:true' },
    });
    await bar.getByRole('button', { name: 'Zoom' }).click();
    await panelOf(page, 'Requests by day').getByRole('button', { name: 'Reset zoom' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(0);
  });

  test('has its parameters and its range in its address, and asks for a value that is missing', async () => {
    const page = await open('/dashboards/gateway', { key: KEY });
    const panel = panelOf(page, 'usage.api-counts');
    await panel.getByText('Choose project above.').waitFor();
    await page.getByLabel('project', { exact: false }).first().fill('aurora');
    await page.keyboard.press('Enter');
    await panelOf(page, 'Requests by area').waitFor();
    await page.getByRole('button', { name: /^Time range/ }).click();
    await page.getByRole('button', { name: 'Last hour' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?project=aurora&ui.range=1h');
  });

  test('has for a key its own panels, with its pins', async () => {
    const key = await makeKey({ endpoints: ['usage.api-counts'], pins: { project: 'aurora' } });
    const page = await open('/dashboards', { key });
    await page.getByRole('link', { name: 'Gateway' }).waitFor();
    expect(await page.getByRole('main').getByRole('link').allInnerTexts()).toEqual(['Gateway']);
    await page.getByRole('link', { name: 'Gateway' }).click();
    await panelOf(page, 'Requests by area').getByRole('application').waitFor();
    const project = page.getByLabel(/^project/);
    expect([await project.inputValue(), await project.isDisabled()]).toEqual(['aurora', true]);
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });

  test('of 12 panels asks 12 times, each answered by the cache, and again only for what has changed', async () => {
    const projects = ['aurora', 'borealis', 'cascade'];
    const intervals = ['15min', '1hr', '1day', '7day'];
    const wanted = projects.flatMap((project) => intervals.map((interval) => ({ project, interval })));
    for (const values of wanted)
      await fetch(
        `${URL_OF_SERVICE}/api/endpoints/query/functions.invocation-stats?${new URLSearchParams(values)}`,
        { headers: { 'x-api-key': KEY } },
      );
    const panels = wanted.map((parameters) => ({
      parameters,
      show: 'number' as const,
      title: `${parameters.project} ${parameters.interval}`,
      columns: ['count'],
    }));
    const { page, show } = await openOwn(panels);
    const seen: (readonly [status: number, cache: string])[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/api/endpoints/query/'))
        seen.push([response.status(), response.headers()['cache-status'] ?? '']);
    });
    await show();
    await expect.poll(() => seen.length).toBe(12);
    await expect.poll(() => page.getByText('Reading…').count()).toBe(0);
    expect(seen.map(([status, cache]) => [status, /;\s*hit/.test(cache)])).toEqual(
      Array.from({ length: 12 }, () => [200, true]),
    );
    seen.length = 0;
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await expect.poll(() => seen.length).toBe(12);
    expect(seen.map(([status]) => status)).toEqual(Array.from({ length: 12 }, () => 304));
  });

  test('goes on without a panel whose endpoint was removed, or whose query fails', async () => {
    const { page, show } = await openOwn([
      { title: 'Here', show: 'number', columns: ['count'] },
      { title: 'Before', endpoint: 'was.removed', missing: true },
      { title: 'Since', endpoint: 'usage.api-counts' },
    ]);
    await page.route('**/api/endpoints/query/usage.api-counts*', (route) =>
      route.fulfill({
        status: 404,
        json: { error: { code: 'endpoint_not_found', message: 'no', request_id: 'r', errors: [] } },
      }),
    );
    await show();
    await panelOf(page, 'Before').getByText('was removed. Add it again').waitFor();
    await panelOf(page, 'Here').locator('.big-number').waitFor();
    await panelOf(page, 'Since').getByRole('alert').waitFor();
  });

  test('is saved as a picture, and printed without its controls', async () => {
    const page = await open(GATEWAY, { key: KEY });
    await panelOf(page, 'Requests by area').getByRole('application').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PNG' }).click();
    expect((await saved).suggestedFilename()).toBe('gateway.png');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'PNG' }).isVisible()).toBe(false);
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
  });

  test('is edited as a file, with the page that it would be; a service that may not write says so', async () => {
    const page = await open(GATEWAY, { key: KEY });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Not saved here: this service does not write dashboards').waitFor();
    await panelOf(page, 'Requests by area').getByRole('application').waitFor();
    const editor = page.getByRole('textbox', { name: 'File of gateway' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('rows: 5\n');
    await page.getByRole('list', { name: 'Faults' }).getByRole('button').first().waitFor();
    await page.getByRole('button', { name: 'Close the editor' }).click();
    await page.getByRole('heading', { name: 'Gateway', level: 1 }).waitFor();
  });

  test('is edited by a form, which changes the text of its file, that is then saved; has no faults by axe', async () => {
    const page = await open('/', { key: KEY, viewport: { width: 1280, height: 860 }, expected: [409] });
    await page.route('**/api/workbench', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), dashboards: { refusal: null } } });
    });
    const saved: { definition: string; version: string }[] = [];
    await page.route('**/api/workbench/dashboards/save', (route) => {
      saved.push(route.request().postDataJSON());
      const error = { code: 'conflict', message: 'the file has changed', request_id: 'r', errors: [] };
      return saved.length === 1
        ? route.fulfill({ json: { name: 'gateway', version: 'next' } })
        : route.fulfill({ status: 409, json: { error } });
    });
    await page.goto(`${URL_OF_SERVICE}${GATEWAY}&ui.edit=1`);
    const form = page.getByRole('region', { name: 'Form' });
    await form
      .getByRole('button', { name: 'Requests by area' })
      .or(form.getByRole('button', { name: 'REST' }))
      .first()
      .waitFor();
    await form.getByLabel('Range').fill('3d');
    await form.getByRole('button', { name: 'Add a row' }).click();
    await form.getByLabel('Endpoint').selectOption('usage.ingest');
    await form.getByLabel('Title').fill('Stored');
    await form.getByLabel('Shows').selectOption('table');
    await form.getByLabel('Add to: Parameters of the panel').selectOption('days');
    await form.getByLabel('days', { exact: true }).fill('3');
    await panelOf(page, 'Stored').waitFor();
    await form.getByRole('button', { name: 'Move up' }).click();
    expect(await form.getByRole('button', { name: 'Stored' }).getAttribute('aria-pressed')).toBe('true');
    expect(await faultsInBothSchemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved, and served from now on.').waitFor();
    expect(saved[0]?.definition).toContain('# yaml-language-server');
    expect(saved[0]?.definition).toContain('range: 3d');
    expect(saved[0]?.definition.replaceAll(/\s+/g, ' ')).toContain(
      'endpoint: usage.ingest title: Stored show: table parameters: days: 3',
    );
    await form.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved.').waitFor();
    expect([saved[1]?.version, saved[1]?.definition.includes('Stored')]).toEqual(['next', false]);
    await page.setViewportSize({ width: 360, height: 860 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  test.each([1280, 360])('has no faults by axe and fits, at %i px', async (width) => {
    const pages = [
      ['/dashboards', 'Dashboards'],
      [GATEWAY, 'Gateway'],
      ['/dashboards/functions?project=aurora', 'Functions'],
    ] as const;
    for (const [path, name] of pages) {
      const page = await open(path, { key: KEY, viewport: { width, height: 860 } });
      // Its own, since the page that signs in has one, too.
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
      await expect.poll(() => page.getByText('Reading…').count()).toBe(0);
      expect(await faultsInBothSchemes(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });
});
