import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { open, startBrowser } from './browser.ts';
import { KEY, send, URL_OF_SERVICE } from './service.ts';

startBrowser(URL_OF_SERVICE);

const EDGE = 'cloudflare.logs.prod';

test('a key is created for a source and a project, the configuration is run, and the light turns on', async () => {
  const page = await open('/send', { key: KEY });
  await page.getByLabel('Project of the events').fill('first-light');
  await page.getByText('No event yet since this page was opened.').waitFor();
  await page.getByRole('button', { name: 'Create a key for it' }).click();
  await page.getByText('which can only send for first-light').waitFor();
  const text = await page.getByRole('region', { name: 'curl' }).innerText();
  const { stdout } = await promisify(execFile)('sh', ['-c', text]);
  expect(stdout).toBe('{"message":"Logged!"}');
  const key = /X-API-KEY: ([^$"\s]+)"/.exec(text)?.[1];
  expect([await send('logs', [{}], key), await send('postgres.logs', [{}], key)]).toEqual([200, 403]);
  await page.getByText(/\d+ in\s+logs(,.*)?: it works\.$/).waitFor();
  await page.getByLabel('Source').selectOption('postgres.logs'); // needs another key
  await page.getByText('The key is read from TAILRACE_KEY').waitFor();
});

test('sources are listed with what they hold, and each shows its fields and leads to its lines', async () => {
  await send('pgbouncer.logs.prod', [{ event_message: 'whose?' }]);
  const page = await open('/sources', { key: KEY });
  const line = page.getByRole('row').filter({ has: page.getByRole('link', { name: EDGE }) });
  await line.getByText(/[KM]iB/).waitFor();
  expect(await line.innerText()).toContain('edge_logs');
  await page.getByText(/\d+ events? without a project since the start/).waitFor();
  await page.getByRole('link', { name: EDGE, exact: true }).click();
  await page.getByRole('heading', { name: EDGE, level: 1 }).waitFor();
  await page.getByRole('row', { name: /^is_auth .*boolean/ }).waitFor();
  const toLines = page.locator('#content').getByRole('link', { name: /^Explore/ });
  await toLines.click();
  await expect.poll(() => new URL(page.url()).searchParams.get('source')).toBe(EDGE);
});
