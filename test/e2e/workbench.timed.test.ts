import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createEndpointTests } from '../../src/cli/commands/test.ts';
import { storeCanaries, writeDefinitions } from '../sandbox/support.ts';
import { EVERY_TYPE } from '../support/every-type.ts';
import { PRIVATE_KEY as key, ownService } from '../support/service.ts';
import { faultsOf, open, run, signIn, startBrowser } from './browser.ts';

const COUNT = 'SELECT count() AS n FROM app_logs WHERE project = @project';
const definitions = await writeDefinitions({
  ...EVERY_TYPE,
  'endpoints/kept.alone/endpoint.yaml': definition('kept.alone', '7dea32a0-fb99-4b83-9c42-c900fca9aeb6'),
  'endpoints/kept.alone/query.sql': COUNT,
  'endpoints/kept.alone/tests/one.yaml': `now: 2026-01-01T00:00:00Z
cases:
  - { name: no events, parameters: { project: p }, rows: [{ n: 0 }] }
`,
});
const alerts = join(definitions.path, 'alerts');
await mkdir(alerts);
const { service, core, config, url, call } = await ownService({
  env: { ...definitions.env, TAILRACE_EDIT_ENDPOINTS: '1', TAILRACE_ALERTS_DIR: alerts },
  runTests: (name, signal) => createEndpointTests(config)(name, signal),
});
await storeCanaries(core);
startBrowser(url);

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

const sqlOf = (page: Page) => page.getByRole('textbox', { name: 'SQL of the query' });
const yamlOf = (page: Page) => page.getByRole('textbox', { name: 'Definition of the endpoint' });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const fileOf = (name: string, file = 'query.sql') => join(definitions.path, 'endpoints', name, file);

async function openBench(name?: string, expected: readonly number[] = []): Promise<Page> {
  const path = name === undefined ? '/workbench' : `/workbench?endpoint=${name}`;
  const page = await open(path, { key, expected });
  await sqlOf(page).waitFor();
  return page;
}

/** Replaces the text of an editor, as by hand. */
async function write(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+a');
  await editor.page().keyboard.insertText(text);
}

/** Waits for a line that others have saved meanwhile. */
const untilTheirs = (page: Page, name: string | RegExp, text: string) =>
  page.getByRole('region', { name }).locator('del').getByText(text).waitFor();

/** The text of an editor, which draws what is in view. */
async function textOf(editor: Locator): Promise<string> {
  return (await editor.locator('.cm-line').allTextContents()).join('\n');
}

describe('an endpoint under work', () => {
  test('is completed, run, and shown as rows and JSON', async () => {
    const page = await openBench('kept.alone');
    await write(sqlOf(page), 'SELECT status, ');
    await page.keyboard.type('coun');
    await page.getByRole('option', { name: 'count', exact: false }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.type(' AS n FROM app_logs WHERE project = @pro');
    await page.getByRole('option', { name: '@project' }).first().click();
    await page.keyboard.insertText(' GROUP BY status ORDER BY status');
    await press(page, 'Use the columns of the query');
    expect(await textOf(yamlOf(page))).toContain('  status: { type: integer, description: A status. }');
    await page.getByLabel('project', { exact: false }).first().fill('p');
    await sqlOf(page).press('Control+Enter');
    const rows = page.getByRole('region', { name: 'Rows of the answer' }).getByRole('row');
    await expect.poll(() => rows.allTextContents()).toEqual(['statusn', '20010', '40410', '50310']);
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByText('"status": 503').waitFor();
  });

  test('has its faults marked at their places, and is not run with them', async () => {
    const page = await openBench('kept.alone', [400]);
    await write(sqlOf(page), 'SELECT count() AS n\nFROM app_logs\nWHERE projct = @project');
    const faults = page.getByRole('list', { name: 'Faults' });
    await faults.getByRole('button', { name: /query\.sql:3:7 .*projct/ }).click();
    expect(await sqlOf(page).locator('.cm-lintRange-error').textContent()).toBe('projct');
    await write(sqlOf(page), 'INSERT INTO app_logs SELECT 1');
    await faults.getByRole('button', { name: /query\.sql.*must be one SELECT/ }).waitFor();
    await press(page, 'Run');
    await page.getByText('Not run: the files have the faults above.').waitFor();
  });

  test('survives a reload, for its author only, until it is discarded', async () => {
    const other = await service.keyring.create({ name: 'another', scopes: ['query', 'manage'] });
    const page = await open('/workbench', { expected: [401] });
    const enter = async (as: string) => {
      await signIn(page, as);
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.goto(`${url}/workbench`);
      await sqlOf(page).waitFor();
    };
    await enter(key);
    await write(sqlOf(page), 'SELECT 4711 AS secret');
    await page.getByText('not saved', { exact: true }).waitFor();
    await press(page, 'Sign out');
    await enter(other.key);
    expect(await sqlOf(page).textContent()).not.toContain('4711');
    await press(page, 'Sign out');
    await enter(key);
    await expect.poll(() => sqlOf(page).textContent()).toContain('SELECT 4711 AS secret');
    await press(page, 'Discard them');
    expect(await sqlOf(page).textContent()).not.toContain('4711');
  });
});

describe('saving', () => {
  test('a new endpoint gives it name and columns, and it answers at once', async () => {
    const page = await openBench();
    const text = definition('x', '9dea32a0-fb99-4b83-9c42-c900fca9aeb6').replace(/columns:[\s\S]*/, '');
    await write(yamlOf(page), text);
    await write(sqlOf(page), COUNT);
    await page.getByRole('button', { name: 'Use the columns of the query', disabled: false }).waitFor();
    await press(page, 'Save as…');
    await page.getByLabel('Name', { exact: true }).fill('made.here');
    await press(page, 'Save');
    await page.getByText('Saved as made.here. It has no tests.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'made.here' }).waitFor();
    expect(await readFile(fileOf('made.here', 'endpoint.yaml'), 'utf8')).toContain(
      'columns:\n  n: { type: integer, description: N. }',
    );
    expect((await call('made.here', { project: 'p' })).status).toBe(200);
  });

  test('runs the tests of the endpoint, and keeps a file that others have changed', async () => {
    const page = await openBench('kept.alone', [409]);
    await write(sqlOf(page), COUNT.replace('count()', 'count() + 1'));
    await press(page, 'Save');
    await page.getByText('1 of 1 tests failed').waitFor();
    await write(sqlOf(page), `${COUNT} -- second`);
    await press(page, 'Save');
    await page.getByText('Its test passed').waitFor();
    expect(await readFile(fileOf('kept.alone'), 'utf8')).toContain('-- second');
    await writeFile(fileOf('kept.alone'), `${COUNT} -- theirs\n`);
    await write(sqlOf(page), `${COUNT} -- third`);
    await press(page, 'Save');
    await page.getByText('Not saved.').waitFor();
    await untilTheirs(page, /^Differences in/, '-- theirs');
    await press(page, 'Keep mine as a copy');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as kept.alone-copy').waitFor();
    expect(await readFile(fileOf('kept.alone'), 'utf8')).toContain('-- theirs');
  });
});

test('a new alert on an endpoint is its file, which is saved; what others have saved meanwhile is loaded', async () => {
  // 400: a text with a fault that is left alone for a second is tried.
  const page = await openBench('kept.alone', [400, 409]);
  await page.getByRole('main').getByRole('link', { name: 'Alert on this' }).click();
  const editor = page.getByRole('textbox', { name: 'New file' });
  await editor.waitFor();
  await write(editor, (await textOf(editor)).replace('above: 0', 'above: x'));
  await page.getByRole('list', { name: 'Faults' }).getByRole('button').first().waitFor();
  await write(
    editor,
    (await textOf(editor)).replace('above: x', 'above: 5').replace('project: ""', 'project: p'),
  );
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'kept.alone', level: 1 }).waitFor();
  const file = join(alerts, 'kept.alone.yaml');
  const saved = await readFile(file, 'utf8');
  expect(saved).toMatch(/^id: [\da-f-]{36}\n[\s\S]*column: n\n {2}above: 5\n/);

  await page.goto(`${url}/workbench/alert?name=kept.alone`);
  const stored = page.getByRole('textbox', { name: 'File of kept.alone' });
  await stored.waitFor();
  await writeFile(file, saved.replace('above: 5', 'above: 7'));
  await write(stored, saved.replace('above: 5', 'above: 6'));
  await press(page, 'Save');
  await untilTheirs(page, 'Differences in kept.alone.yaml', 'above: 7');
  await press(page, 'Load theirs');
  await expect.poll(() => textOf(stored)).toContain('above: 7');
  await page.getByText('Not saved.').waitFor({ state: 'detached' });
});

test('the form of an endpoint has an input for each type, and sends what is in it', async () => {
  const page = await open('/endpoints/every.type', { key, expected: [400] });
  const fieldOf = (name: string) => page.getByLabel(name, { exact: true });
  const values = { i: '-9007199254740993', n: '0.25', b: 'false', d: '2026-11-20', l: '3,4' };
  for (const [name, value] of Object.entries(values))
    await (name === 'b' ? fieldOf(name).selectOption(value) : fieldOf(name).fill(value));
  await run(page);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject(values);
  await page.getByText('[3,4]').first().waitFor();
  await fieldOf('l').fill('3,x');
  await run(page);
  await page.getByText('has "x", which must be a whole number, such as 1').first().waitFor();
});

test('a search is saved for the team once under a name, listed and opened', async () => {
  const page = await open('/explore?q=level%3Aerror&live=1&order=oldest', { key, expected: [409] });
  const openSaved = () => page.getByRole('button', { name: 'Saved', exact: true }).click();
  await openSaved();
  const saveAs = async (name: string) => {
    await page.getByLabel('Name of this search').fill(name);
    await press(page, 'Save for the team');
  };
  await saveAs('Checkout fails!');
  await page.getByText('Saved for the team as checkout-fails.').waitFor();
  const file = await readFile(join(definitions.path, 'searches', 'checkout-fails.yaml'), 'utf8');
  expect(file).toContain('search: {"q":"level:error","order":"oldest"}');
  await saveAs('checkout fails');
  await page.getByText('there is a search checkout-fails already').waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${url}/explore`);
  await openSaved();
  const team = page.getByRole('list', { name: 'Searches of the team' });
  await team.getByRole('button', { name: 'Checkout fails!' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe('?q=level%3Aerror&order=oldest');
});
