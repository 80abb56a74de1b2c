import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { createEndpointTests } from '../../src/cli/testing/endpoint-tests.ts';
import { storeCanaries, writeDefinitions } from '../sandbox/support.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';
import {
  faultsInBothSchemes,
  KEY,
  makeKey,
  type OpenOptions,
  open,
  overflowOf,
  signIn,
  startBrowser,
} from './sampled.ts';

startBrowser();

const definitions = await writeDefinitions({
  'endpoints/kept.alone/endpoint.yaml': definition('kept.alone', '7dea32a0-fb99-4b83-9c42-c900fca9aeb6'),
  'endpoints/kept.alone/query.sql': 'SELECT count() AS n FROM app_logs WHERE project = @project',
  'endpoints/kept.alone/tests/one.yaml': `now: 2026-01-01T00:00:00Z
cases:
  - { name: no events, parameters: { project: p }, rows: [{ n: 0 }] }
`,
});
const service = await startTestService({
  env: { ...definitions.env, TAILRACE_EDIT_ENDPOINTS: '1' },
  runTests: (name, signal) => createEndpointTests(service.config)(name, signal),
});
await storeCanaries(service.core);
afterAll(async () => {
  await service.close();
  await definitions.remove();
});

function definition(name: string, id: string): string {
  return `id: ${id}
name: ${name}
description: A test.
max_rows: 5
caching: disabled
parameters:
  project: { type: string, required: true, description: A project. }
columns:
  n: { type: integer, description: A count. }
`;
}

async function openBench(name?: string, options: OpenOptions = {}): Promise<Page> {
  const path = name === undefined ? '/workbench' : `/workbench?endpoint=${name}`;
  const page = await open(path, { key: PRIVATE_KEY, origin: service.url, ...options });
  await sqlOf(page).waitFor();
  return page;
}

test('what is not saved is there for who wrote it, and for nobody who signs in after them', async () => {
  const { key } = await service.service.keyring.create({ name: 'another', scopes: ['query', 'manage'] });
  const page = await open('/workbench', { origin: service.url, expected: [401] });
  const enter = async (as: string) => {
    await signIn(page, as);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto(`${service.url}/workbench`);
    await sqlOf(page).waitFor();
  };
  const leave = async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
  };
  await enter(PRIVATE_KEY);
  await write(sqlOf(page), 'SELECT 4711 AS secret');
  await leave();
  await enter(key);
  expect(await sqlOf(page).textContent()).not.toContain('4711');
  await leave();
  await enter(PRIVATE_KEY);
  await expect.poll(() => sqlOf(page).textContent()).toContain('SELECT 4711 AS secret');
});

const sqlOf = (page: Page) => page.getByRole('textbox', { name: 'SQL of the query' });
const yamlOf = (page: Page) => page.getByRole('textbox', { name: 'Definition of the endpoint' });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const fileOf = (name: string, file = 'query.sql') => join(definitions.path, 'endpoints', name, file);

/** Replaces the text of an editor, as by hand. */
async function write(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+a');
  await editor.page().keyboard.insertText(text);
}

/** The text of an editor, which draws what is in view. */
async function textOf(editor: Locator): Promise<string> {
  return await editor.evaluate((one) =>
    [...one.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'),
  );
}

test('completes functions, tables, columns and parameters, and marks what they are', async () => {
  const page = await openBench();
  const editor = sqlOf(page);
  const accept = async (typed: string, label: string) => {
    await page.keyboard.type(typed);
    await page.getByRole('option', { name: label, exact: false }).first().click();
  };
  await write(editor, 'SELECT ');
  await accept('countI', 'countIf');
  await accept('app_logs.stat', 'status');
  await page.keyboard.press('End');
  await page.keyboard.type(' AS n FROM ');
  await accept('app', 'app_logs');
  await page.keyboard.type(' WHERE project = ');
  await accept('@pro', '@project');
  expect(await textOf(editor)).toBe(
    'SELECT countIf(app_logs.status) AS n FROM app_logs WHERE project = @project',
  );
  expect(await editor.locator('.cm-function').allTextContents()).toEqual(['countIf']);
});

test('runs the texts with values of their parameters, and shows rows, figures, JSON and the plan', async () => {
  const page = await openBench('kept.alone');
  await write(
    sqlOf(page),
    'SELECT status, count() AS n FROM app_logs WHERE project = @project GROUP BY status ORDER BY status',
  );
  await press(page, 'Use the columns of the query');
  expect(await textOf(yamlOf(page))).toContain(
    '  status: { type: integer, description: A status. }\n  n: { type: integer, description: A count. }',
  );
  await page.getByLabel('project', { exact: false }).first().fill('p');
  await sqlOf(page).press('Control+Enter');
  const table = page.getByRole('region', { name: 'Rows of the result' });
  await expect
    .poll(() => table.getByRole('row').allTextContents())
    .toEqual(['statusn', '20010', '40410', '50310']);
  const about = page.getByRole('list', { name: 'About this result' });
  expect(await about.textContent()).toMatch(/3 rows.*rows read.*read.*in the engine/);
  await page.getByRole('tab', { name: 'JSON' }).click();
  await page.getByText('"status": 503').waitFor();
  await page.getByRole('tab', { name: 'Plan' }).click();
  await page
    .getByText(/ReadFrom/)
    .first()
    .waitFor();
});

test('a new endpoint runs any query, without declared columns', async () => {
  const page = await openBench();
  await write(
    sqlOf(page),
    'SELECT status FROM app_logs WHERE project = @project ORDER BY status DESC LIMIT 1',
  );
  await page.getByLabel('project').fill('p');
  await sqlOf(page).press('Control+Enter');
  await page.getByRole('tab', { name: 'Table' }).click();
  const table = page.getByRole('region', { name: 'Rows of the result' });
  await expect.poll(() => table.getByRole('row').allTextContents()).toEqual(['status', '503']);
});

test('a run can be stopped', async () => {
  const page = await openBench('kept.alone');
  const endless = "SELECT sum(cityHash64(number)) AS n FROM numbers(1000000000000) WHERE @project != ''";
  await write(sqlOf(page), endless);
  await page.getByLabel('project').fill('p');
  await page.getByRole('button', { name: 'Use the columns of the query', disabled: false }).waitFor();
  await press(page, 'Run');
  await expect.poll(() => service.core.engine.gauges().running).toBe(1);
  await press(page, 'Stop');
  await page.getByText('Stopped.').waitFor();
  await expect.poll(() => service.core.engine.gauges().running).toBe(0);
});

test('says that an answer is cut at max_rows', async () => {
  const page = await openBench('kept.alone');
  await write(sqlOf(page), 'SELECT toInt64(status) AS n FROM app_logs WHERE project = @project');
  await page.getByLabel('project').fill('p');
  await press(page, 'Run');
  await page.getByText('cut at max_rows').waitFor();
});

test('marks a fault at its place, leads to it, and forgets it once it is mended', async () => {
  const page = await openBench('kept.alone', { expected: [400] });
  await write(sqlOf(page), 'SELECT count() AS n\nFROM app_logs\nWHERE projct = @project');
  const faults = page.getByRole('list', { name: 'Faults' });
  await faults.getByRole('button', { name: /query\.sql:3:7 .*projct/ }).click();
  expect(await sqlOf(page).locator('.cm-lintRange-error').textContent()).toBe('projct');
  await page.keyboard.press('Control+Delete');
  await page.keyboard.type('project');
  await faults.waitFor({ state: 'detached' });

  await write(yamlOf(page), definition('kept.alone', 'no uuid'));
  await faults.getByRole('button', { name: /endpoint\.yaml.*uuid/i }).waitFor();
  await write(sqlOf(page), 'INSERT INTO app_logs SELECT 1');
  await faults.getByRole('button', { name: /query\.sql.*must be one SELECT/ }).waitFor();
  await press(page, 'Run');
  await page.getByText('Not run: the files have the faults above.').waitFor();
});

test('a value that is missing is named at its field', async () => {
  const page = await openBench('kept.alone', { expected: [400] });
  await page.getByLabel('project').waitFor();
  await press(page, 'Run');
  await page.getByRole('form', { name: 'Parameters' }).getByText('is required').waitFor();
});

test('a run before the first check has answered has the values that were entered before', async () => {
  const page = await openBench('kept.alone');
  await page.getByLabel('project').fill('p');
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toContain('project');
  await page.route('**/api/workbench/check', () => undefined);
  await page.reload();
  await sqlOf(page).waitFor();
  await press(page, 'Run');
  const about = page.getByRole('list', { name: 'About this result' });
  await about.getByText('1 row', { exact: true }).waitFor();
});

test('a reload loses nothing, and the changes can be discarded', async () => {
  const page = await openBench('kept.alone');
  await write(sqlOf(page), 'SELECT count() AS n FROM app_logs WHERE project = @project -- mine');
  await page.getByLabel('project').fill('p');
  await page.getByText('not saved', { exact: true }).waitFor();
  await page.reload();
  await sqlOf(page).waitFor();
  expect(await textOf(sqlOf(page))).toBe(
    'SELECT count() AS n FROM app_logs WHERE project = @project -- mine',
  );
  await expect.poll(() => page.getByLabel('project').inputValue()).toBe('p');
  await press(page, 'Discard them');
  expect(await textOf(sqlOf(page))).not.toContain('mine');
  await page.getByText('not saved', { exact: true }).waitFor({ state: 'detached' });
});

describe('saving', () => {
  test('a new endpoint gets the name and columns, and answers at once', async () => {
    const page = await openBench();
    await write(
      yamlOf(page),
      definition('x', '8dea32a0-fb99-4b83-9c42-c900fca9aeb6').replace(/columns:[\s\S]*/, ''),
    );
    await write(
      sqlOf(page),
      'SELECT status, count() AS n FROM app_logs WHERE project = @project GROUP BY status',
    );
    await page.getByRole('button', { name: 'Use the columns of the query', disabled: false }).waitFor();
    await press(page, 'Save as…');
    await page.getByLabel('Name', { exact: true }).fill('made.here');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as made.here. It has no tests.').waitFor();
    // At once: by itself the navigation reads the list once a minute.
    await page.getByRole('navigation').getByRole('link', { name: 'made.here' }).waitFor({ timeout: 60_000 });
    expect(new URL(page.url()).searchParams.get('endpoint')).toBe('made.here');
    expect(await readFile(fileOf('made.here', 'endpoint.yaml'), 'utf8')).toContain(
      'columns:\n  status: { type: integer, description: A status. }\n  n: { type: integer, description: N. }',
    );
    const { status, body } = await service.call('made.here', { project: 'p' });
    expect([status, body.result.length]).toEqual([200, 3]);
    await page.getByRole('link', { name: 'Its page' }).click();
    await page.getByRole('link', { name: 'Open in the workbench' }).click();
    expect(await textOf(sqlOf(page))).toContain('GROUP BY status');
  });

  test('a new endpoint that is saved before its check has answered gets columns, too', async () => {
    const page = await openBench();
    let isSaving = false;
    await page.route('**/api/workbench/check', (route) => (isSaving ? route.continue() : undefined));
    await write(
      yamlOf(page),
      definition('x', '9dea32a0-fb99-4b83-9c42-c900fca9aeb6').replace(/columns:[\s\S]*/, ''),
    );
    await write(sqlOf(page), 'SELECT count() AS n FROM app_logs WHERE project = @project');
    await press(page, 'Save as…');
    await page.getByLabel('Name', { exact: true }).fill('made.fast');
    isSaving = true;
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as made.fast. It has no tests.').waitFor();
    expect(await readFile(fileOf('made.fast', 'endpoint.yaml'), 'utf8')).toContain(
      'columns:\n  n: { type: integer, description: N. }',
    );
  });

  test('runs the tests of the endpoint', async () => {
    const page = await openBench('kept.alone');
    await write(sqlOf(page), 'SELECT count() + 1 AS n FROM app_logs WHERE project = @project');
    await press(page, 'Save');
    await page.getByText('1 of 1 tests failed').waitFor();
    await write(sqlOf(page), 'SELECT count() AS n FROM app_logs WHERE project = @project');
    await press(page, 'Save');
    await page.getByText('Its test passed').waitFor();
  });

  test('a file that has changed since is kept; the caller continues with it, or with a copy', async () => {
    const page = await openBench('sandbox.off', { expected: [409] });
    const theirs = `${await readFile(fileOf('sandbox.off'), 'utf8')}-- theirs\n`;
    await writeFile(fileOf('sandbox.off'), theirs);
    await sqlOf(page).press('Control+End');
    await page.keyboard.type('-- mine');
    await press(page, 'Save');
    await page.getByText('Not saved.').waitFor();
    expect(await readFile(fileOf('sandbox.off'), 'utf8')).toBe(theirs);
    const differences = page.getByRole('region', { name: /^Differences in/ });
    await differences.getByText('+ -- mine').waitFor();
    expect(await differences.count()).toBe(1);
    expect(await differences.locator('del').allTextContents()).toEqual([
      expect.stringContaining('− -- theirs'),
    ]);
    expect(await faultsInBothSchemes(page)).toEqual([]);

    await press(page, 'Keep mine as a copy');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as sandbox.off-copy').waitFor();
    expect(await readFile(fileOf('sandbox.off-copy'), 'utf8')).toContain('-- mine');

    await page.getByLabel('Endpoint under work').selectOption('sandbox.off');
    await expect.poll(() => textOf(sqlOf(page))).toContain('-- theirs');
  });
});

test('a save can be taken back: an earlier version is compared, and put into the editors unsaved', async () => {
  const page = await openBench('kept.alone');
  for (const comment of ['first', 'second']) {
    await write(sqlOf(page), `SELECT count() AS n FROM app_logs WHERE project = @project -- ${comment}`);
    await press(page, 'Save');
    await page.getByText('not saved', { exact: true }).waitFor({ state: 'detached' });
  }
  await press(page, 'History');
  const dialog = page.getByRole('dialog', { name: 'History' });
  await dialog.getByText('This is what the editor has now.').waitFor();
  await dialog.getByLabel('Version').selectOption({ index: 1 });
  const differences = dialog.getByRole('region', { name: 'Differences in query.sql' });
  await differences.locator('del').getByText('-- first').waitFor();
  expect(await differences.locator('ins').textContent()).toContain('-- second');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await press(page, 'Restore, without saving');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => textOf(sqlOf(page))).toContain('-- first');
  await page.getByText('not saved', { exact: true }).waitFor();
  expect(await readFile(fileOf('kept.alone'), 'utf8')).toContain('-- second');
});

test('a result is kept as a test of its endpoint, which runs at once', async () => {
  const page = await openBench('sandbox.on');
  await page.getByLabel('project').waitFor();
  await page.getByLabel('project').fill('nobody');
  await press(page, 'Run');
  await press(page, 'Keep as a test');
  const dialog = page.getByRole('dialog', { name: 'Keep as a test' });
  await dialog.getByLabel('What it shows').fill('counts no events of nobody');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add the test' }).click();
  await dialog.getByText('Its test passed.').waitFor();
  expect(await readFile(fileOf('sandbox.on', 'tests/results.yaml'), 'utf8')).toContain(
    'counts no events of nobody',
  );
  await press(page, 'Close');
  await sqlOf(page).press('Control+End');
  await page.keyboard.type('-- mine');
  await press(page, 'Run');
  await press(page, 'Keep as a test');
  await dialog.getByText('The result is not that of the saved files.').waitFor();
});

test('where files are not written, it shows both to be copied', async () => {
  const page = await open('/workbench?endpoint=usage.api-counts', { key: KEY });
  await press(page, 'Copy the files');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('endpoints/usage.api-counts/endpoint.yaml').first().waitFor();
  expect(await dialog.getByRole('region').allTextContents()).toEqual([
    expect.stringContaining('name: usage.api-counts'),
    expect.stringContaining('FROM edge_logs'),
  ]);
  expect(await dialog.getByRole('button', { name: 'Copy' }).count()).toBe(2);
  await press(page, 'Close');
  await page.getByLabel('Endpoint under work').selectOption({ label: 'New endpoint' });
  await page.getByRole('button', { name: 'Use the columns of the query', disabled: false }).waitFor();
  await press(page, 'Copy the files');
  await dialog.getByText('columns:').waitFor();
});

test('a key that may not read everything sees why it cannot be used', async () => {
  const key = await makeKey({ scopes: ['query', 'manage'], pins: { project: 'aurora' } });
  const page = await open('/workbench', { key });
  await page.getByText('This key may not see this page').waitFor();
  await page.getByText('without other limits').waitFor();
});

test('Tab leaves an editor', async () => {
  const page = await openBench('kept.alone');
  await page.getByRole('button', { name: 'Use the columns of the query', disabled: false }).waitFor();
  await sqlOf(page).focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press('Tab'); // edges, button, the other editor
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.closest('form')?.ariaLabel))
    .toBe('Parameters');
});

test('the editors are as wide and as high as wished, by mouse and keyboard, in this browser', async () => {
  const page = await openBench('kept.alone');
  const wide = page.getByRole('separator', { name: 'Width of query.sql in percent' });
  const high = page.getByRole('separator', { name: 'Height of the editors' });
  const sizeOf = async () =>
    (await page.locator('[data-file="sql"] .bench-editor').boundingBox()) ?? undefined;
  const shownBy = async (edge: Locator) => Number(await edge.getAttribute('aria-valuenow'));
  const [first, firstHeight] = [await sizeOf(), await shownBy(high)];
  expect(await shownBy(wide)).toBe(55);
  await wide.press('ArrowLeft');
  await expect.poll(() => shownBy(wide)).toBe(54);
  expect((await sizeOf())?.width).toBeLessThan(first?.width ?? 0);
  await high.press('ArrowDown');
  await expect.poll(async () => (await sizeOf())?.height).toBeCloseTo((first?.height ?? 0) + 16, 0);

  const box = await wide.boundingBox();
  if (box === null) throw new Error('the edge is not shown');
  await page.mouse.move(box.x + 4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x - 96, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await expect
    .poll(async () => Math.abs(((await wide.boundingBox())?.x ?? 0) - (box.x - 100)))
    .toBeLessThan(2);
  const [width, height] = [await shownBy(wide), await shownBy(high)];
  await page.reload();
  await sqlOf(page).waitFor();
  expect([await shownBy(wide), await shownBy(high)]).toEqual([width, height]);

  for (const [key, value] of [
    ['Home', 20],
    ['End', 80],
  ] as const) {
    await wide.press(key);
    await expect.poll(() => shownBy(wide)).toBe(value);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  }
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await wide.dblclick();
  await high.press('Delete');
  expect([await shownBy(wide), await shownBy(high)]).toEqual([55, firstHeight]);

  // 1280 pixels at 200 %, and a telephone: one editor at a time.
  for (const viewport of [
    { width: 640, height: 430 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    expect([await wide.isVisible(), await high.isVisible()]).toEqual([false, false]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  }
});

test('a sandboxed endpoint takes a SELECT, with completion, and shows its columns', async () => {
  const page = await open('/endpoints/sandbox.on?project=p', { key: PRIVATE_KEY, origin: service.url });
  const editor = page.getByRole('textbox', { name: 'sql' });
  await write(editor, 'SELECT status, count() AS requests FROM ');
  await page.keyboard.type('erro');
  // Not by Enter: the editor takes it as a new line for a moment after the list opens.
  await page.getByRole('option', { name: 'errors' }).click();
  await page.keyboard.type(' GROUP BY status');
  await page.keyboard.press('Control+Enter');
  const table = page.getByRole('region', { name: 'Rows of the answer' });
  await expect.poll(() => table.getByRole('row').allTextContents()).toEqual(['statusrequests', '50310']);
  expect(new URL(page.url()).searchParams.get('sql')).toBe(
    'SELECT status, count() AS requests FROM errors GROUP BY status',
  );
});

test('what Explore shows is saved as an endpoint with its test', async () => {
  const explored = '/explore?source=app.logs&project=p&by=status&q=GET&range=24h';
  const page = await open(explored, { key: PRIVATE_KEY, origin: service.url });
  await press(page, 'Save as endpoint');
  await page.getByRole('link', { name: /The chart/ }).click();
  await sqlOf(page).waitFor();
  expect(await textOf(sqlOf(page))).toContain("lower(event_message) LIKE '%get%'");
  await page.getByText('not saved', { exact: true }).waitFor();
  await page.getByText('tests/search.yaml', { exact: false }).click();
  expect(await textOf(page.getByRole('textbox', { name: 'Test of the endpoint' }))).toContain('app.logs');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('tab', { name: 'JSON' }).click();
  await page.getByText('"status": "503"').first().waitFor();
  await press(page, 'Save as…');
  await page.getByLabel('Name').fill('from.explore');
  await press(page.getByRole('dialog').page(), 'Save');
  await page.getByText('Its test passed.').waitFor();
  expect(await readFile(fileOf('from.explore'), 'utf8')).toContain('FROM app_logs');
  const definition = await readFile(fileOf('from.explore', 'endpoint.yaml'), 'utf8');
  expect(definition).toContain('name: from.explore');
  expect(definition).toContain('series: status');
  expect(await readFile(fileOf('from.explore', 'tests/search.yaml'), 'utf8')).toContain('project: p');
});

test('Explore says why a key cannot save an endpoint', async () => {
  const key = await makeKey({ name: 'a reader', scopes: ['query'] });
  const page = await open('/explore', { key });
  await press(page, 'Save as endpoint');
  await page.getByText('It needs a key with the scopes query and manage').waitFor();
});
