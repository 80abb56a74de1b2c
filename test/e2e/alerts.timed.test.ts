import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';
import { faultsInBothSchemes, KEY, open, overflowOf, startBrowser } from './sampled.ts';

startBrowser();

const NAME = 'failing.paths';
const folder = await temporaryFolder();
const alertsDir = join(folder.path, 'alerts');
const endpointsDir = join(folder.path, 'endpoints');
await mkdir(alertsDir);
await cp('template/endpoints', endpointsDir, { recursive: true });
const shipped = await readFile('template/alerts/failing.paths.yaml', 'utf8');
const eager = shipped.replace(/^(every|delay|for): .*\n/gm, '');
await writeFile(join(alertsDir, `${NAME}.yaml`), `${eager}every: 1\n`);
const receiver = await startReceiver();
const receiversFile = join(folder.path, 'receivers');
await writeFile(
  receiversFile,
  `ops: { kind: webhook, url: "${receiver.url}", secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3, private: true }\n`,
  { mode: 0o600 },
);
const running = await startTestService({
  env: {
    ...{ TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_ALERTS_DIR: alertsDir },
    ...{ TAILRACE_RECEIVERS_FILE: receiversFile, TAILRACE_EDIT_ENDPOINTS: '1' },
  },
});
const { clock, core } = running;
const event = {
  ...{ timestamp: clock.now * 1000, project: 'aurora', event_message: 'GET /cart 500' },
  metadata: { request: { path: '/cart' }, response: { status_code: 500 } },
};
await storeEvents(core, 'cloudflare.logs.prod', [event, event], clock.now);
clock.now += 5_000;
afterAll(async () => {
  await running.close();
  receiver.close();
  await folder.remove();
});

const openPage = (path: string, options: Parameters<typeof open>[1] = {}) =>
  open(path, { key: PRIVATE_KEY, origin: running.url, ...options });
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();

async function openAlert(): Promise<Page> {
  const page = await openPage('/alerts');
  await page.getByRole('row', { name: /failing\.paths.*firing/ }).waitFor();
  await page.getByRole('main').getByRole('link', { name: NAME }).click();
  await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();
  return page;
}

test('the list leads to an alert with its instances, its chart, its history, its endpoint and its lines', async () => {
  const page = await openAlert();
  const instances = page.getByRole('region', { name: 'Instances' });
  expect((await instances.getByRole('row').nth(1).innerText()).replaceAll(/\s+/g, ' ')).toMatch(
    /path \/cart.*firing.*failures 2/,
  );
  const chart = page.getByRole('region', { name: 'The last day' });
  await chart.getByText('Greatest failures').waitFor();
  await chart.getByText('Threshold').waitFor();
  await page.getByRole('region', { name: 'History' }).getByText('/cart').waitFor();
  expect(await page.getByRole('link', { name: NAME, exact: true }).last().getAttribute('href')).toBe(
    `/endpoints/${NAME}?project=aurora`,
  );
  await page.getByRole('link', { name: 'Explore them' }).click();
  await page.getByRole('main').getByText('GET /cart 500').first().waitFor();
});

test('a silence is made with one form by keyboard, and ended early', async () => {
  const page = await openAlert();
  await page.getByRole('button', { name: 'Silence it' }).focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: `Silence ${NAME}` });
  await form.getByLabel('Until').waitFor();
  await form.getByRole('button', { name: '4 h' }).click();
  await form.getByLabel('path').fill('/cart');
  await form.getByLabel('Why').fill('the shop is upgraded');
  await page.keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
  const silences = page.getByRole('region', { name: 'Silences' });
  await silences.getByText('the shop is upgraded').first().waitFor();
  expect(await silences.innerText()).toContain('only path = /cart');
  await page.locator('.alert-head').getByText('silenced').waitFor();
  await press(page, /End it now.*the shop is upgraded/);
  await silences.getByText('Not silenced').waitFor();
});

test('every alert is silenced by labels, on the list, and the silence is ended on the page of an alert', async () => {
  const page = await openPage('/alerts', { expected: [400] });
  const silences = page.getByRole('region', { name: 'Silences of every alert' });
  await silences.getByText('Not silenced').waitFor();
  await press(page, 'Silence by labels');
  const form = page.getByRole('dialog', { name: 'Silence every alert' });
  await form.getByLabel('Why').fill('the cart is moved');
  await form.getByRole('button', { name: 'Silence it' }).click();
  await form.getByText('must have at least one of those of the alerts').first().waitFor();
  await form.getByLabel('path').fill('/cart');
  await form.getByRole('button', { name: 'Silence it' }).click();
  await form.waitFor({ state: 'detached' });
  await silences.getByText('only path = /cart, of every alert').first().waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.goto(`${running.url}/alerts/${NAME}`);
  const own = page.getByRole('region', { name: 'Silences' });
  await own.getByText('of every alert').first().waitFor();
  await press(page, /End it now.*the cart is moved/);
  await own.getByText('Not silenced').waitFor();
});

test('a test is sent after a question, and says what became of it', async () => {
  const page = await openAlert();
  await press(page, 'Send a test');
  const dialog = page.getByRole('dialog', { name: `Test ${NAME}` });
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.getByText('1 instance fires at present').waitFor();
  expect(await dialog.getByRole('definition').innerText()).toBe('sent');
  expect(receiver.received.some(({ body }) => body.includes('"test":true'))).toBe(true);
});

test('“Alert on this” writes a file, with faults at their fields', async () => {
  const page = await openPage(`/endpoints/${NAME}?project=aurora`, { expected: [400] });
  await page.getByRole('link', { name: 'Alert on this' }).click();
  const form = page.getByRole('region', { name: 'The alert' });
  await form.getByLabel('Name').fill('cart.fails');
  await form.getByLabel('Value').fill('many');
  await press(page, 'Save the alert');
  await form.getByText('"when" must be "rows", or a map').first().waitFor();
  expect(await form.getByLabel('When').getAttribute('aria-invalid')).toBe('true');
  await form.getByLabel('Value').fill('1');
  await form.getByRole('checkbox', { name: 'path' }).check();
  await press(page, 'Save the alert');
  await page.getByRole('heading', { name: 'cart.fails', level: 1 }).waitFor();
  const written = await readFile(join(alertsDir, 'cart.fails.yaml'), 'utf8');
  expect(written).toMatch(/parameters:\n {2}project: aurora\n.*above: 1\n.*- path\n/s);
});

test('the workbench opens an alert as a text, marks its faults, and saves unless the file has changed', async () => {
  const page = await openPage('/workbench', { expected: [409] });
  await page.getByLabel('Endpoint under work').selectOption(`/workbench/alert?name=${NAME}`);
  const editor = page.getByRole('textbox', { name: `File of ${NAME}` });
  await editor.waitFor();
  const write = async (text: string) => {
    await editor.press('Control+a');
    await page.keyboard.insertText(text);
  };
  const path = join(alertsDir, `${NAME}.yaml`);
  const before = await readFile(path, 'utf8');
  await write(before.replace('column: failures', 'column: fails'));
  await page.getByRole('list', { name: 'Faults' }).getByText('has no column "fails"').waitFor();
  const changed = before.replace('severity: warning', 'severity: critical');
  await write(changed);
  await page.getByRole('link', { name: 'Its page' }).click();
  await page.getByRole('link', { name: 'Open in the workbench' }).click();
  await page.getByText('These are your unsaved changes').waitFor();
  await press(page, 'Save');
  await page.getByText('Saved, and served from now on').waitFor();
  expect(await readFile(path, 'utf8')).toBe(changed);
  await writeFile(path, `${changed}# by somebody else\n`);
  await write(before);
  await press(page, 'Save');
  await page.getByText('the file has changed since failing.paths was read').waitFor();
  await press(page, 'Load theirs');
  await page.locator('.cm-line', { hasText: '# by somebody else' }).waitFor();
  expect(await readFile(path, 'utf8')).toContain('somebody else');
});

test('the pages have no faults by axe, in both schemes, and fit a phone', async () => {
  const alert = await openAlert();
  for (const path of ['/alerts', `/alerts/${NAME}`, `/workbench/alert?endpoint=${NAME}`]) {
    await alert.goto(running.url + path);
    await alert.getByRole('heading', { level: 1 }).waitFor();
    await alert.waitForLoadState('networkidle');
    expect(await faultsInBothSchemes(alert), path).toEqual([]);
    await alert.setViewportSize({ width: 360, height: 740 });
    expect(await overflowOf(alert), path).toBeLessThanOrEqual(0);
    await alert.setViewportSize({ width: 1280, height: 860 });
  }
  await alert.goto(`${running.url}/alerts/${NAME}`);
  await press(alert, 'Silence it');
  expect(await faultsInBothSchemes(alert)).toEqual([]);
});

test('a key that may only query sees alerts and no buttons, and a service without alerts says how to write one', async () => {
  const { key } = await running.service.keyring.create({
    ...{ name: 'a', description: '', scopes: ['query'], pins: {}, endpoints: undefined },
    ...{ sources: undefined, rate: undefined, expiresMs: undefined },
  });
  const page = await openPage(`/alerts/${NAME}`, { key, expected: [404] });
  await page.getByRole('region', { name: 'History' }).getByText('/cart').first().waitFor();
  expect(
    await page
      .getByRole('main')
      .getByRole('button', { name: /test|silence|end/i })
      .count(),
  ).toBe(0);
  expect(await page.getByText('Open in the workbench').count()).toBe(0);
  await page.goto(`${running.url}/alerts/nothing`);
  await page.getByText('No such alert').waitFor();
  const none = await open('/alerts', { key: KEY });
  await none.getByText('No alerts').waitFor();
  expect(await faultsInBothSchemes(none)).toEqual([]);
});
