import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEY, makeKey, open, rowsOf, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const FOLDER = join(import.meta.dirname, '../../docs/screenshots');
const BYTES_MAX = 300 * 1024;
const ADDRESSES = {
  overview: '/',
  statistics: '/endpoints/functions.invocation-stats?project=aurora&interval=1day',
  usage: '/endpoints/usage.api-counts?project=aurora&interval=daily',
  logs: '/endpoints/logs.all?project=aurora&project_tier=PRO',
  keys: '/keys',
  explore: '/explore?source=cloudflare.logs.prod,postgres.logs,deno-relay-logs&columns=response.status_code',
  source: '/sources/deno-relay-logs',
  send: '/send',
  admin: '/admin?show=events',
  workbench: '/workbench?endpoint=usage.api-counts',
};
const PICTURES = [
  ['overview', 'light'],
  ['statistics', 'light'],
  ['usage', 'dark'],
  ['logs', 'dark'],
  ['explore', 'light'],
  ['keys', 'light'],
  ['source', 'dark'],
  ['send', 'light'],
  ['admin', 'light'],
  ['workbench', 'light'],
] as const;

// `npm run screenshots` takes them anew; otherwise they stay as they are, since each taking differs by the hour.
test.each(PICTURES)('the picture of %s in %s is there, and small', async (name, colorScheme) => {
  const file = join(FOLDER, `${name}.png`);
  if (process.env['SCREENSHOTS'] === '1') await take(name, colorScheme, file);
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
  expect(statSync(file).size).toBeLessThan(BYTES_MAX);
});

async function take(
  name: keyof typeof ADDRESSES,
  colorScheme: 'light' | 'dark',
  path: string,
): Promise<void> {
  await makeTraffic();
  if (name === 'keys') await makeKeys();
  if (name === 'admin') await makeRejections();
  const page = await open(ADDRESSES[name], { key: KEY, colorScheme, viewport: { width: 1280, height: 900 } });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  if (name === 'statistics')
    await page.getByRole('figure', { name: 'Invocations' }).locator('.u-over').click();
  if (name === 'logs') await page.locator('.line-head').nth(1).click();
  if (name === 'explore') await page.locator('.line-head').nth(4).click();
  if (name === 'admin') await page.getByText('The last one').first().click();
  if (name === 'send') {
    await rowsArrive();
    await page.getByText('it works').waitFor();
  }
  if (name === 'workbench') {
    await page.getByLabel('project').fill('aurora');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('figure').waitFor();
  }
  await page.screenshot({ path, animations: 'disabled' });
}

/** So that the light turns on. */
async function rowsArrive(): Promise<void> {
  await fetch(`${URL_OF_SERVICE}/api/logs?source=logs`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: '[{"project":"aurora"}]',
  });
}

/** So that there are rejected events. */
async function makeRejections(): Promise<void> {
  const key = await makeKey({ name: 'vector', scopes: ['ingest'], pins: { project: 'aurora' } });
  const send = (source: string, events: readonly object[]) =>
    fetch(`${URL_OF_SERVICE}/api/logs?source=${source}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(events),
    });
  await send('postgres.logs', [{ project: 'basalt', event_message: 'checkpoint complete' }]);
  await send('gotrue.logs.prod', [{ timestamp: 'yesterday', event_message: 'user signed in' }]);
  const old = { timestamp: '2019-03-01T10:00:00Z', event_message: 'GET | 200 | /rest/v1/orders' };
  await send('cloudflare.logs.prod', [old, old, old]);
}

/** So that the overview has something to tell. */
async function makeTraffic(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await rowsOf('usage.api-counts', { project: 'aurora', interval: 'hourly' });
    await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '1day' });
    await rowsOf('logs.all', { project: 'aurora' });
  }
}

/** So that there is a key of each kind. */
async function makeKeys(): Promise<void> {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  await makeKey({ name: 'operations', scopes: ['query', 'ingest', 'manage'] });
  await makeKey({ name: 'vector', scopes: ['ingest'], sources: ['gotrue.logs.prod', 'postgres.logs'] });
  await makeKey({
    name: 'dashboard',
    description: 'One project’s own logs and counts',
    pins: { project: 'aurora', project_tier: 'PRO' },
    rate: { per_second: 20, burst: 40 },
    expires_at: inDays(90),
  });
  await makeKey({ name: 'monthly report', endpoints: ['usage.api-counts'], expires_at: inDays(3) });
  const old = await makeKey({ name: 'old laptop' });
  const id = old.split('_')[1];
  await fetch(`${URL_OF_SERVICE}/api/keys/${id}`, { method: 'DELETE', headers: { 'x-api-key': KEY } });
}
