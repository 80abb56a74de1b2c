import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { KEY, makeKey, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

test('a key is made, the configuration is run as it stands, and the light turns on', async () => {
  const page = await open('/send', { key: KEY });
  await page.getByLabel('Project of the events').fill('first-light');
  await page.getByText('No event yet since this page was opened.').waitFor();
  await page.getByRole('button', { name: 'Create a key for it' }).click();
  await page.getByText('which can only send for first-light').waitFor();
  const text = await page.getByRole('region', { name: 'curl' }).innerText();
  expect(text).not.toContain('TAILRACE_KEY');
  const { stdout } = await promisify(execFile)('sh', ['-c', text]);
  expect(stdout).toBe('{"message":"Logged!"}');
  // Other files of tests send to it, too.
  await page.getByText(/\d+ in\s+logs(,.*)?: it works\.$/).waitFor();
  await page.getByRole('link', { name: 'logs', exact: true }).click();
  await page.getByRole('heading', { name: 'Explore', level: 1 }).waitFor();
});

test('the key that was made is of this source and project only', async () => {
  const page = await open('/send', { key: KEY });
  await page.getByLabel('Source').selectOption('postgres.logs');
  await page.getByRole('button', { name: 'Create a key for it' }).click();
  const readKey = async () =>
    /X-API-KEY: ([^$"\s]+)"/.exec(await page.getByRole('region', { name: 'curl' }).innerText())?.[1];
  await expect.poll(readKey).toBeDefined();
  const key = (await readKey()) ?? '';
  const send = async (source: string) => {
    const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=${source}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '[{}]',
    });
    return response.status;
  };
  expect([await send('postgres.logs'), await send('logs')]).toEqual([200, 403]);
  // Another source needs another key.
  await page.getByLabel('Source').selectOption('logs');
  await page.getByText('The key is read from TAILRACE_KEY').waitFor();
});

test('a key that may only send sees its project and no button', async () => {
  const key = await makeKey({ scopes: ['ingest'], sources: ['logs'], pins: { project: 'aurora' } });
  const page = await open('/send', { key });
  const project = page.getByLabel('Project of the events');
  expect([await project.inputValue(), await project.isDisabled()]).toEqual(['aurora', true]);
  expect(await page.getByRole('button', { name: /^Create/ }).count()).toBe(0);
  await page.getByLabel('What sends them').selectOption({ label: 'Heroku' });
  await page.getByText('heroku drains:add').waitFor();
  await page.getByText('A key with the scope manage sees here').waitFor();
});
