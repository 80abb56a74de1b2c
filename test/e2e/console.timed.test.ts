import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  faultsInBothSchemes,
  KEY,
  makeKey,
  open,
  overflowOf,
  rowsOf,
  run,
  signIn,
  startBrowser,
  URL_OF_SERVICE,
} from './sampled.ts';

startBrowser();

const STATS = '/endpoints/functions.invocation-stats?project=aurora&interval=7day';
const USAGE = '/endpoints/usage.api-counts?project=aurora&interval=daily';
const LOGS = '/endpoints/logs.all?project=aurora&project_tier=PRO';
const legendOf = (page: Awaited<ReturnType<typeof open>>, chart: string) =>
  page
    .getByRole('figure', { name: chart })
    .getByRole('listitem')
    .filter({ has: page.locator('.legend-value') })
    .allInnerTexts();
const oneLine = (texts: readonly string[]) => texts.map((text) => text.replaceAll(/\s+/g, ' ').trim());

describe('signing in', () => {
  test('takes a right key, for every tab, and says what is wrong with another', async () => {
    const page = await open('/', { expected: [401] });
    await signIn(page, 'no-such-key');
    await page.getByText('This key is not accepted').waitFor();
    await signIn(page, 'tr_…'); // which no header can carry
    await page.getByText('This is not a key').waitFor();
    await signIn(page, KEY);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${URL_OF_SERVICE}/keys`);
    await other.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    // No script can read the session, and the key is not kept at all.
    const kept = () =>
      page.evaluate(() =>
        [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie].join(),
      );
    expect(await kept()).not.toContain(KEY);
    expect(await kept()).not.toContain('ts_');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await other.getByText('You have signed out.').waitFor();
  });

  test('says how to create a key, and the one that results sees every page', async () => {
    const page = await open('/');
    const command = await page.getByText('npx tailrace keys create').innerText();
    const scopes = /--scope (\S+)/.exec(command)?.[1]?.split(',');
    await signIn(page, await makeKey({ scopes }));
    await page.getByRole('row', { name: /usage\.api-counts/ }).waitFor();
    for (const name of ['Sources', 'Keys']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      expect(await page.getByText('This key may not see this page').count()).toBe(0);
    }
  });

  test('comes back to the sign-in when the key ends, and says so', async () => {
    const key = await makeKey({ scopes: ['query', 'manage'] });
    const page = await open('/', { key, expected: [401] });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const self = await fetch(`${URL_OF_SERVICE}/api/self`, { headers: { 'x-api-key': key } });
    const { id } = (await self.json()) as { id: string };
    await fetch(`${URL_OF_SERVICE}/api/keys/${id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': KEY },
    });
    await page.getByText('This key was revoked or has expired').waitFor({ timeout: 60_000 });
  });
});

describe('the overview', () => {
  test('tells what each endpoint and source does, and renews itself', async () => {
    await rowsOf('usage.api-counts', { project: 'aurora', interval: 'hourly' });
    const page = await open('/', { key: KEY });
    const row = page.getByRole('row', { name: /usage\.api-counts/ });
    await row.waitFor();
    const requests = async () =>
      Number((await row.getByRole('img').getAttribute('aria-label'))?.replaceAll(',', '').match(/^\d+/)?.[0]);
    const before = await requests();
    expect(before).toBeGreaterThan(0);
    const edge = page.getByRole('row', { name: /cloudflare\.logs\.prod/ });
    expect(await edge.innerText()).toMatch(/MiB|KiB/);
    await rowsOf('usage.api-counts', { project: 'aurora', interval: 'hourly' });
    await expect.poll(requests, { timeout: 60_000 }).toBeGreaterThan(before);
    await page.getByText('Ready', { exact: true }).waitFor();
  });

  test('shows a key without the scope manage what it may call, and no numbers', async () => {
    const page = await open('/', { key: await makeKey({ endpoints: ['logs.all'] }) });
    await page.getByText('Live numbers need the scope manage').waitFor();
    expect(await page.getByRole('main').getByRole('link').allInnerTexts()).toEqual(['logs.all']);
    expect(await page.getByRole('table').count()).toBe(0);
  });
});

describe('an endpoint', () => {
  test('of statistics is drawn: counts, errors and percentiles, instant by instant', async () => {
    const rows = await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '7day' });
    const page = await open('/endpoints/functions.invocation-stats', { key: KEY });
    await page.getByText('Fill in project above, and press Run.').waitFor();
    await page.getByLabel('project').fill('aurora');
    await page.getByLabel('interval').selectOption('7day');
    await run(page);
    const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
    await page.getByRole('figure', { name: 'Invocations' }).waitFor();
    const exact = (value: number) => value.toLocaleString('en');
    expect(oneLine(await legendOf(page, 'Invocations'))).toEqual([
      `Count ${exact(sum('count'))} in all`,
      `Error count ${exact(sum('error_count'))} in all`,
    ]);
    const plot = page.getByRole('application', { name: /Invocations/ });
    await plot.focus();
    await page.keyboard.press('Home');
    await expect
      .poll(async () => oneLine(await legendOf(page, 'Invocations')))
      .toEqual([
        `Count ${exact(Number(rows[0]?.['count']))}`,
        `Error count ${exact(Number(rows[0]?.['error_count']))}`,
      ]);
    expect(oneLine(await legendOf(page, 'Execution time')).map((text) => text.split(' ')[0])).toEqual([
      'Max',
      'p99',
      'p95',
      'Avg',
      'Min',
    ]);
    await page
      .getByText(/\d+ rows?$/)
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toBe('?project=aurora&interval=7day');
  });

  test('of counts is drawn as areas on top of one another, and listed as a table that can be sorted', async () => {
    const rows = await rowsOf('usage.api-counts', { project: 'aurora', interval: 'daily' });
    const page = await open(USAGE, { key: KEY });
    await page.getByRole('figure', { name: 'Requests by area' }).waitFor();
    expect(oneLine(await legendOf(page, 'Requests by area')).map((text) => text.split(' ')[0])).toEqual([
      'Rest',
      'Storage',
      'Auth',
      'Realtime',
    ]);
    await page.getByRole('tab', { name: 'Table' }).click();
    const table = page.getByRole('table', { name: 'Rows of the answer' });
    const column = async () => {
      const cells = await table.getByRole('row').locator('td:nth-child(2)').allInnerTexts();
      return cells.map(Number);
    };
    const rest = rows.map((row) => Number(row['total_rest_requests']));
    expect(await column()).toEqual(rest);
    const head = table.getByRole('button', { name: 'total_rest_requests' });
    await head.click();
    const first = await column();
    expect([rest.toSorted((a, b) => a - b), rest.toSorted((a, b) => b - a)]).toContainEqual(first);
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(await page.getByRole('region', { name: 'The answer as JSON' }).innerText()).toContain(
      'total_rest_requests',
    );
  });

  test('says whether the answer was kept, how old it is, and what it took', async () => {
    const page = await open(USAGE, { key: KEY });
    const about = page.getByRole('list', { name: 'About this answer' });
    await about.waitFor();
    await run(page);
    await expect
      .poll(() => about.innerText())
      .toMatch(/cache hit[\s\S]*old[\s\S]*rows[\s\S]*0 ms in the engine/);
    await page.getByLabel('Bypass the cache').check();
    await run(page);
    await expect.poll(() => about.innerText()).toMatch(/cache miss/);
  });

  test('that refuses a value says which and why, at the field', async () => {
    const page = await open('/endpoints/usage.api-counts?project=(&interval=daily', {
      key: KEY,
      expected: [400],
    });
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('invalid_parameter');
    const help = await page.getByLabel('project').getAttribute('aria-describedby');
    expect(await page.locator(`[id="${help}"]`).innerText()).toContain('regular expression');
  });

  test('suggests the projects that have events, and lets a pinned key have its own alone', async () => {
    const page = await open('/endpoints/logs.all', { key: KEY });
    await page.locator('datalist option').first().waitFor({ state: 'attached' });
    const suggested = await page
      .locator('datalist option')
      .evaluateAll((all) => all.map((one) => one.getAttribute('value')));
    expect(suggested).toContain('aurora');
    const pinned = await open('/endpoints/logs.all?project=basalt', {
      key: await makeKey({ pins: { project: 'aurora' } }),
    });
    await pinned.getByRole('list', { name: 'About this answer' }).waitFor();
    expect(await pinned.getByLabel('project', { exact: false }).first().inputValue()).toBe('aurora');
    expect(await pinned.getByLabel('project', { exact: false }).first().isDisabled()).toBe(true);
    await pinned.getByRole('tab', { name: 'SQL' }).click();
    await pinned.getByText('The SQL needs the scope manage.').waitFor();
  });

  test('is saved as a file in each format', async () => {
    const page = await open(USAGE, { key: KEY });
    await page.getByText('Download').waitFor();
    for (const [format, begin] of [
      ['csv', '"timestamp",'],
      ['parquet', 'PAR1'],
    ] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: format, exact: true }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toBe(`usage.api-counts.${format}`);
      const [chunk] = await (await file.createReadStream()).take(1).toArray();
      expect(String(chunk)).toMatch(new RegExp(`^${begin}`));
    }
  });

  test('has ready-made calls that work and hold no key', async () => {
    const page = await open(STATS, { key: KEY });
    const call = page.getByRole('region', { name: 'The call in curl' });
    const text = await call.innerText();
    expect(text).not.toContain(KEY);
    const address = /'(http[^']+)'/.exec(text)?.[1] ?? '';
    const response = await fetch(address, { headers: { 'x-api-key': KEY } });
    expect(response.status).toBe(200);
    await page.getByRole('radio', { name: 'Python' }).check();
    expect(await page.getByRole('region', { name: 'The call in Python' }).innerText()).toContain('urllib');
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByRole('region', { name: 'The stored query' }).waitFor();
    expect(await page.locator('.hljs-keyword').count()).toBeGreaterThan(3);
  });
});

describe('logs', () => {
  const listOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });
  const countOf = (page: Page) =>
    page
      .getByRole('region', { name: 'Log', exact: true })
      .getByRole('status')
      .filter({ hasText: /lines?/ });

  test('are listed newest first, open to their metadata, go on to older ones, and are filtered', async () => {
    const page = await open(LOGS, { key: KEY });
    const list = listOf(page);
    await list.waitFor();
    const times = await list
      .locator('time')
      .evaluateAll((all) => all.map((one) => one.getAttribute('datetime') ?? ''));
    expect(times).toEqual(times.toSorted().reverse());
    await list.locator('.line-head').first().click();
    expect(await list.locator('.record').innerText()).toContain('status_code');
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await expect.poll(() => countOf(page).innerText()).toMatch(/^[2-9]00 lines$/);
    await page.getByLabel('Filter the loaded lines').fill('/auth/');
    await expect.poll(() => countOf(page).innerText()).toMatch(/^\d{1,2} of \d00 lines$/);
    expect(new URL(page.url()).searchParams.get('ui.filter')).toBe('/auth/');
    for (const text of await list.locator('.line-head .line-message').allInnerTexts())
      expect(text).toContain('/auth/');
    const before = await countOf(page).innerText();
    await page.getByRole('button', { name: 'Load older' }).click();
    await expect.poll(() => countOf(page).innerText()).not.toBe(before);
  });

  test('have the menu of a value, columns, and the lines around one', async () => {
    const page = await open(LOGS, { key: KEY });
    const list = listOf(page);
    await list.locator('.line-head').nth(5).click();
    const record = list.locator('.record');
    const term = record
      .locator('.record-fields > div')
      .filter({ has: page.getByText('response.status_code', { exact: true }) });
    const status = await term.getByRole('button').innerText();
    await term.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Add as column' }).click();
    await list.getByRole('button', { name: 'Remove the column response.status_code' }).waitFor();
    expect(await list.locator('.line-head .line-cell').first().innerText()).toMatch(/^\d{3}$/);
    await term.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Filter for' }).click();
    await expect.poll(() => countOf(page).innerText()).toMatch(/ of 100 lines$/);
    expect(await page.getByLabel('Filter the loaded lines').inputValue()).toBe(
      `response.status_code:${status}`,
    );
    for (const cell of await list.locator('.line-head .line-cell').allInnerTexts()) expect(cell).toBe(status);

    const first = record
      .locator('.record-fields > div')
      .filter({ has: page.getByText('id', { exact: true }) });
    const id = await first.first().getByRole('button').innerText();
    await record.getByRole('link', { name: 'Around this line' }).click();
    const marked = list.locator('.line.marked');
    await marked.waitFor();
    const query = new URL(page.url()).searchParams;
    expect([query.get('ui.at')?.endsWith(`:${id}`), query.get('ui.filter')]).toEqual([true, null]);
    expect(query.get('ui.columns')).toBe('response.status_code');
    const time = (await marked.locator('time').getAttribute('datetime')) ?? '';
    const from = query.get('iso_timestamp_start') ?? '';
    const until = query.get('iso_timestamp_end') ?? '';
    expect([Date.parse(time) - Date.parse(from), Date.parse(until) - Date.parse(time)]).toEqual([
      expect.closeTo(120_000, -1),
      expect.closeTo(120_000, -1),
    ]);
    await marked.locator('.line-head').click();
    expect(await record.innerText()).toContain(id);
    const shared = await open(page.url().slice(URL_OF_SERVICE.length), { key: KEY });
    await listOf(shared).locator('.line.marked').waitFor();
  });

  test('that come in are shown at once where the list is live', async () => {
    const project = 'live-project';
    const page = await open(`/endpoints/logs.all?project=${project}`, { key: KEY });
    await page.getByText('No entries', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    const send = async (message: string) => {
      const event = { project, event_message: message, metadata: { level: 'error', big: 1 } };
      const sent = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=cloudflare.logs.prod`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify([event]).replace('"big":1', '"big":9007199254740993'),
      });
      expect(sent.status).toBe(200);
    };
    await send('it came in');
    const line = page.locator('.line-head').filter({ hasText: 'it came in' });
    await line.waitFor({ timeout: 60_000 });
    expect(await line.innerText()).toContain('error');
    await line.click();
    expect(await page.locator('.record').innerText()).toContain('9007199254740993');
    expect(new URL(page.url()).searchParams.get('ui.live')).toBe('1');

    const before = await line.boundingBox(); // while an entry is open, others wait
    await send('it waits');
    await page.getByRole('button', { name: '1 new', exact: true }).click({ timeout: 60_000, trial: true });
    expect(await line.boundingBox()).toEqual(before);
    expect(await page.getByText('it waits').count()).toBe(0);
    await page.getByRole('button', { name: '1 new', exact: true }).click();
    await page.getByRole('button', { name: /it waits/ }).waitFor();
  });
});

describe('a view', () => {
  test('is shared by its address: another sees the same after signing in', async () => {
    const page = await open(STATS, { key: KEY });
    await page.getByRole('tab', { name: 'Table' }).click();
    await page.getByRole('table', { name: 'Rows of the answer' }).waitFor();
    const other = await open(page.url().slice(URL_OF_SERVICE.length));
    await signIn(other, KEY);
    await other.getByRole('table', { name: 'Rows of the answer' }).waitFor();
    expect(await other.getByLabel('interval').inputValue()).toBe('7day');
    expect(other.url()).toBe(page.url());
  });

  test('of before comes back by the back button', async () => {
    const page = await open(USAGE, { key: KEY });
    await page.getByRole('figure').waitFor();
    await page.getByLabel('interval').selectOption('hourly');
    await run(page);
    await page.goBack();
    await expect.poll(() => page.getByLabel('interval').inputValue()).toBe('daily');
  });

  test('has its times in the zone that was chosen, and its colours, also after a reload', async () => {
    const page = await open(LOGS, { key: KEY });
    const time = page.getByRole('region', { name: 'Lines, newest first' }).locator('time').first();
    const local = await time.innerText();
    const utc = ((await time.getAttribute('datetime')) ?? '').slice(11, 19);
    expect(local).not.toContain(utc); // the browser's zone is Berlin's
    await page.getByRole('radio', { name: 'UTC' }).check();
    expect(await time.innerText()).toContain(utc);
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    expect(await time.innerText()).toContain(utc);
  });

  test('that does not exist says where to go', async () => {
    const page = await open('/endpoints/no.such', { key: KEY });
    await page.getByText('No such endpoint').waitFor();
  });
});

describe('at 360 px', () => {
  test('the navigation is behind a button', async () => {
    const page = await open('/', { key: KEY, viewport: { width: 360, height: 780 } });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'logs.all' }).click();
    await page.getByRole('heading', { name: 'logs.all', level: 1 }).waitFor();
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
  });
});

describe('nothing is wider than a phone, and axe finds nothing wrong', () => {
  const paths = { overview: '/', stats: STATS, usage: USAGE, logs: LOGS, table: `${STATS}&ui.view=table` };
  test.each(Object.entries(paths))('with %s', async (name, path) => {
    const page = await open(path, { key: KEY, viewport: { width: 360, height: 780 } });
    await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 860 });
    if (name === 'logs') await page.locator('.line-head').first().click();
    expect(await faultsInBothSchemes(page)).toEqual([]);
  });

  test('with the sign-in', async () => {
    expect(await faultsInBothSchemes(await open('/'))).toEqual([]);
  });
});

describe('the first load', () => {
  /** Bytes that a page transfers until it has no more requests, without answers of the API; those of the editor's files apart. */
  async function firstLoadOf(path: string): Promise<{ bytes: number; editorBytes: number }> {
    const page = await open(path, { key: KEY });
    await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    return await page.evaluate(async () => {
      const entries = [
        ...performance.getEntriesByType('navigation'),
        ...performance.getEntriesByType('resource'),
      ] as PerformanceResourceTiming[];
      const load = { bytes: 0, editorBytes: 0 };
      for (const { name, transferSize } of entries.filter((entry) => !entry.name.includes('/api/'))) {
        const text = name.endsWith('.js') ? await (await fetch(name)).text() : '';
        // The class of CodeMirror's element.
        load[text.includes('cm-editor') ? 'editorBytes' : 'bytes'] += transferSize;
      }
      return load;
    });
  }

  test.each([
    ['/', 300_000, 0],
    ['/explore', 300_000, 0],
    ['/workbench', 250_000, 130_000],
  ])(
    'of %s is below %i bytes compressed, and %i of the editor at most',
    async (path, bytesMax, editorBytesMax) => {
      const { bytes, editorBytes } = await firstLoadOf(path);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(bytesMax);
      expect(editorBytes).toBeLessThanOrEqual(editorBytesMax);
    },
  );
});
