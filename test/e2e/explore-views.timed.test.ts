import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { faultsInBothSchemes, KEY, open, overflowOf, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines, newest first' });

async function send(source: string, events: readonly object[]): Promise<void> {
  const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

test('all events of a trace are on a time line over every source', async () => {
  const project = `trace-${Date.now()}`;
  const startMs = Date.now() - 60_000;
  const at = (ms: number) => new Date(startMs + ms).toISOString();
  const of = (trace_id: string, ms: number) => ({ project, timestamp: at(ms), metadata: { trace_id } });
  await send('logs', [
    { ...of('4bf92f35', 0), event_message: 'begins' },
    { ...of('other', 5), event_message: 'of another trace' },
  ]);
  await send('postgres.logs', [{ ...of('4bf92f35', 250), event_message: 'selects' }]);
  const page = await open(`/explore?project=${project}&source=logs`, { key: KEY });
  await linesOf(page).locator('.line-head').filter({ hasText: 'begins' }).click();
  await linesOf(page).locator('.record').getByRole('button', { name: '4bf92f35' }).click();
  await page.getByRole('menuitem', { name: 'All events of this trace' }).click();
  const events = page.getByRole('list', { name: 'Events, oldest first' }).getByRole('listitem');
  await expect
    .poll(async () => (await events.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')))
    .toEqual([
      expect.stringMatching(/^\+0 ms logs .*begins$/),
      expect.stringMatching(/^\+250 ms postgres.logs .*selects$/),
    ]);
  await page.getByText(/2 events of 2 sources within 250 ms/).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await events.last().getByRole('button').click(); // among the lines around it
  await linesOf(page).locator('.marked').filter({ hasText: 'selects' }).waitFor();
});

test('the chart has the counts of the range before, and deployments of the source that is named for them', async () => {
  const project = `deploy-${Date.now()}`;
  await send('logs', [{ project, event_message: 'v1.2.3 to production' }]);
  const page = await open('/docs', { key: KEY });
  await page.route('**/api/search/sources', async (route) => {
    const response = await route.fetch();
    const { result } = (await response.json()) as { result: { name: string }[] };
    const marked = result.map((source) => ({ ...source, marks_deploys: source.name === 'logs' }));
    await route.fulfill({ response, json: { result: marked } });
  });
  await page.goto(`${URL_OF_SERVICE}/explore?range=6h&project=${project}`);
  const legend = page.getByRole('list', { name: 'Series' });
  await legend.getByRole('button', { name: /Deployment.*v1\.2\.3 to production/ }).waitFor();
  await page.getByRole('button', { name: 'Range before' }).click();
  await legend.getByText('range before').waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get('before')).toBe('1');
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('messages are grouped into patterns, which filter', async () => {
  const project = `patterns-${Date.now()}`;
  const messages = Array.from({ length: 12 }, (_, i) => `user ${1_000 + i} logged in from 10.0.0.${i}`);
  await send(
    'logs',
    [...messages, 'disk is full'].map((event_message) => ({ project, event_message })),
  );
  const page = await open(`/explore?project=${project}`, { key: KEY });
  await page.getByRole('tab', { name: 'Patterns' }).click();
  const patterns = page.getByRole('list', { name: 'Patterns, most frequent first' }).getByRole('listitem');
  await expect
    .poll(() => patterns.first().locator('.pattern-text').innerText())
    .toMatch(/user <.*logged in from/);
  await expect.poll(() => patterns.first().locator('.pattern-count').innerText()).toMatch(/^12\s/);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await patterns
    .first()
    .getByRole('button', { name: /^Exclude/ })
    .click();
  await expect.poll(() => patterns.allInnerTexts()).toEqual([expect.stringContaining('disk is full')]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});

test('a marked range, and errors, are compared with the rest, and fields are summarised', async () => {
  const project = `compare-${Date.now()}`;
  const events = Array.from({ length: 60 }, (_, i) => ({
    project,
    event_message: 'request',
    metadata: { level: i % 6 === 0 ? 'error' : 'info', region: i % 6 === 0 ? 'fra' : 'iad', ms: i },
  }));
  await send('logs', events);
  const page = await open(`/explore?project=${project}&view=compare`, { key: KEY });
  const differences = page
    .getByRole('list', { name: 'Differences, most telling first' })
    .getByRole('listitem');
  await expect
    .poll(async () => (await differences.first().innerText()).replaceAll(/\s+/g, ' '))
    .toMatch(/^region (fra − 100 % errors 0 % the rest|iad − 0 % errors 100 % the rest)/);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  const plot = page.getByRole('application', { name: /Events over time/ });
  await plot.focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('m');
  await page.getByRole('radio', { name: 'Marked range' }).waitFor();
  expect(new URL(page.url()).searchParams.get('mark')).toMatch(/Z\/.*Z$/);

  await page.getByRole('tab', { name: 'Lines' }).click();
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  const fields = page.getByRole('complementary', { name: 'Fields' });
  await fields.getByRole('button', { name: /^ms.*0 – 59/ }).click();
  await fields.getByText(/p50 (29|30).* · p95 5[67]/).waitFor();
  await fields.getByRole('button', { name: /^region.*2 values/ }).click();
  await fields.getByRole('button', { name: /^iad 50/ }).waitFor();
  expect(await fields.getByRole('button', { name: /^request\.path/ }).count()).toBe(0); // absent
  expect(await faultsInBothSchemes(page)).toEqual([]);

  await page.getByRole('combobox', { name: 'Measure' }).selectOption('p95');
  await page.getByRole('combobox', { name: 'of', exact: true }).selectOption('ms');
  await expect.poll(() => new URL(page.url()).searchParams.get('measure')).toBe('p95(ms)');
  await page.getByRole('button', { name: 'Log', exact: true }).click();
  await page.getByRole('list', { name: 'Series' }).getByText('error').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
});
