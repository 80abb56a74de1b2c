import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { KEY, makeKey, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const LOGS = '/api/endpoints/query/logs.all?project=aurora&project_tier=PRO';

async function statusOf(key: string, path = LOGS): Promise<number> {
  return (await fetch(URL_OF_SERVICE + path, { headers: { 'x-api-key': key } })).status;
}

async function openKeys(options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const page = await open('/keys', { key: KEY, ...options });
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  return page;
}

let named = 0;
/** Returns a name that no other key has, also when a test is tried again. */
const nameFor = (purpose: string) => `${purpose} ${++named}`;

const lineOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name} `) }) });
const trailOf = (page: Page) => page.getByRole('region', { name: 'Audit trail' }).getByRole('listitem');

describe('a key', () => {
  test('is made with all its limits, shown once, and does what was said', async () => {
    const name = nameFor('made here');
    const page = await openKeys({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Create a key' }).click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByLabel('Name', { exact: true }).fill(name);
    await form.getByLabel('Description').fill('of a test');
    const endpoints = form.getByRole('group', { name: 'Endpoints that it may read' });
    await endpoints.getByRole('radio', { name: 'Only these' }).check();
    await endpoints.getByRole('checkbox', { name: 'logs.all' }).check();
    await form.getByRole('button', { name: 'Pin a value' }).click();
    await form.getByLabel('Value of project').fill('aurora');
    await form.getByRole('button', { name: 'in 30 d' }).click();
    await form.getByLabel('Requests a second').fill('50');
    await form.getByRole('button', { name: 'Create the key' }).click();

    const made = page.getByRole('region', { name: `${name}: the new key` });
    await made.getByText('It is not shown again').waitFor();
    const key = await made.locator('code').first().innerText();
    await made.getByRole('button', { name: 'Copy the key' }).click();
    await made.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    expect(await statusOf(key)).toBe(200);
    expect(await statusOf(key, LOGS.replace('aurora', 'basalt'))).toBe(403);
    expect(await statusOf(key, LOGS.replace('logs.all', 'usage.api-counts'))).toBe(403);

    const line = await lineOf(page, name).innerText();
    for (const text of [
      'good',
      'logs.all',
      'project = aurora',
      '50/s, 100 at once',
      'in 30 d',
      'of a test',
    ]) {
      expect(line).toContain(text);
    }
    await made.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await lineOf(page, name).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(key);
  });

  test('that the service refuses is told of at its fields, the first of which has the focus', async () => {
    const page = await openKeys({ expected: [400] });
    await page.getByRole('button', { name: 'Create a key' }).click();
    const form = page.getByRole('dialog');
    const sources = form.getByRole('group', { name: 'Sources that it may send to' });
    await sources.getByRole('radio', { name: 'Only these' }).check();
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form.getByText('name must be a text of 1 to 100 characters').last().waitFor();
    const name = form.getByLabel('Name', { exact: true });
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => name.evaluate((one) => one === document.activeElement)).toBe(true);
    await name.fill('refused');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await sources.getByText('sources must name at least one').waitFor();
    await sources.getByRole('radio', { name: 'All' }).check();
    await form.getByRole('button', { name: 'Pin a value' }).click();
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form
      .getByRole('group', { name: 'Pinned values' })
      .getByText('pins.project must have 1 to')
      .waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await lineOf(page, 'refused').count()).toBe(0);
  });

  test('is revoked after a question, and refused at once', async () => {
    const name = nameFor('to revoke');
    const key = await makeKey({ name, pins: { project: 'aurora' } });
    expect(await statusOf(key)).toBe(200);
    const page = await openKeys();
    const button = page.getByRole('button', { name: `Revoke ${name}` });
    await button.click();
    const dialog = page.getByRole('dialog', { name: `Revoke ${name}?` });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => button.evaluate((one) => one === document.activeElement)).toBe(true);
    expect(await statusOf(key)).toBe(200);

    await page.keyboard.press('Enter');
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.closest('dialog')?.tagName ?? document.activeElement?.tagName,
      );
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel');
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Tab');
      expect(['DIALOG', 'BODY']).toContain(await focused()); // the body: the browser's own controls have it
    }
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText(`The key ${name} is revoked`).waitFor();
    expect(await statusOf(key)).toBe(401);
    await expect.poll(() => lineOf(page, name).count()).toBe(0);
    const fold = page.getByRole('region', { name: 'Revoked and expired keys' });
    await fold.getByRole('button', { name: /^Show/ }).click();
    expect(await lineOf(page, name).innerText()).toContain('revoked');
    expect(await button.count()).toBe(0);
    await fold.getByRole('button', { name: /^Hide/ }).click();
    expect(await lineOf(page, name).count()).toBe(0);
    await expect
      // Other tests change keys of the same service meanwhile, so it may not be the first.
      .poll(async () => (await trailOf(page).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' '))
      .toContain(`revoked The environment’s private key revoked ${name}`);
  });

  test('is rotated: its successor has the same rights, and it ends when the overlap does', async () => {
    const name = nameFor('to rotate');
    const old = await makeKey({ name });
    const page = await openKeys();
    await page.getByRole('button', { name: `Rotate ${name}` }).click();
    await page.getByLabel('The old key stays valid for').selectOption('0');
    await page.getByRole('button', { name: 'Create the new key' }).click();
    const made = page.getByRole('region', { name: `${name}: the new key` });
    const key = await made.locator('code').first().innerText();
    expect([await statusOf(old), await statusOf(key)]).toEqual([401, 200]);
    await expect
      .poll(async () =>
        (await lineOf(page, name).allInnerTexts()).map((text) => /good|expired/.exec(text)?.[0]),
      )
      .toEqual(['good']);
    await page.getByRole('button', { name: /^Show \d/ }).click();
    expect(await lineOf(page, name).last().innerText()).toContain('expired');
  });
});

describe('the audit trail', () => {
  test('goes on to older entries, each once, in local time or UTC', async () => {
    for (let i = 0; i < 55; i++) await makeKey({ name: `trail ${i}` });
    const page = await openKeys();
    const entries = trailOf(page);
    await expect.poll(() => entries.count()).toBe(50);
    // Other files may make keys meanwhile.
    const newest = entries.filter({ hasText: /created trail 54 [0-9a-f]{12}: scope query/ });
    const local = (await newest.innerText()).split('\n')[0];
    await page.getByRole('radio', { name: 'UTC' }).check();
    const utc = (await newest.innerText()).split('\n')[0];
    expect(utc).not.toBe(local);
    expect(Math.abs(Date.now() - Date.parse(`${utc}Z`))).toBeLessThan(600_000);
    // One that comes in between moves none of those that follow.
    await makeKey({ name: 'in between' });
    await page.getByRole('button', { name: 'Load older entries' }).click();
    await expect.poll(() => entries.count()).toBeGreaterThan(55);
    const texts = await entries.locator('.trail-text').allInnerTexts();
    const made = texts.flatMap((text) => /created trail (\d+) /.exec(text)?.[1] ?? []);
    expect(made.map(Number)).toEqual([...Array(55).keys()].reverse());
  });
});

describe('a key that signs in', () => {
  test('without the scope manage is told what it needs', async () => {
    const page = await open('/keys', { key: await makeKey({}) });
    await page.getByText('This page needs manage').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).count()).toBe(0);
  });

  test('with limits gives no more than it has, and does not see the trail', async () => {
    const limits = { scopes: ['query', 'manage'], endpoints: ['logs.all'], pins: { project: 'aurora' } };
    const page = await openKeys({ key: await makeKey({ name: 'limited', ...limits }), expected: [403] });
    await page.getByText('This key may not see the audit trail').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const form = page.getByRole('dialog');
    expect(await form.getByRole('checkbox', { name: /^ingest/ }).isDisabled()).toBe(true);
    await form.getByLabel('Name', { exact: true }).fill('within');
    await form.getByRole('button', { name: 'Remove the pin of project' }).click();
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form.getByText('project must be pinned to "aurora"').waitFor();
    await form.getByRole('button', { name: 'Pin a value' }).click();
    await form.getByLabel('Value of project').fill('aurora');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('region', { name: 'within: the new key' }).waitFor();
  });
});
