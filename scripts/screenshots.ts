// npm run screenshots -- <url> <key>: takes the pictures of docs/console.md anew, of a service with sample events such as
// `npm start` runs; the key needs every scope.
import { chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.js';

type Picture = readonly [
  name: string,
  colorScheme: 'light' | 'dark',
  path: string,
  act?: (page: Page) => Promise<void>,
];

const clickFirst = (selector: string) => (page: Page) => page.locator(selector).first().click();

const PICTURES: readonly Picture[] = [
  ['overview', 'light', '/'],
  [
    'statistics',
    'light',
    '/endpoints/functions.invocation-stats?project=aurora&interval=1day',
    clickFirst('.u-over'),
  ],
  [
    'usage',
    'dark',
    '/endpoints/usage.api-counts?project=aurora&interval=daily',
    (page) => page.getByRole('figure').waitFor(),
  ],
  [
    'explore',
    'light',
    '/explore?source=cloudflare.logs.prod,postgres.logs,deno-relay-logs&columns=response.status_code',
    (page) => page.locator('.line-head').nth(4).click(),
  ],
  ['keys', 'light', '/keys'],
  ['source', 'dark', '/sources/deno-relay-logs'],
  [
    'send',
    'light',
    '/send',
    async (page) => {
      await call('/api/logs?source=logs', [{ project: 'aurora' }]);
      await page.getByText('it works').waitFor();
    },
  ],
  ['admin', 'light', '/admin?show=events', (page) => page.getByText('The last one').first().click()],
  [
    'workbench',
    'light',
    '/workbench?endpoint=usage.api-counts',
    async (page) => {
      await page.getByLabel('project').fill('aurora');
      await page.getByLabel('interval').selectOption('daily');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('figure').waitFor();
    },
  ],
];

const [url = '', key = ''] = process.argv.slice(2);
const executablePath = findProgram('chromium');
if (key === '' || executablePath === undefined) {
  throw new Error('usage: npm run screenshots -- <url> <key>, with Chromium in PATH');
}

// Keys and rejected events to show.
await call('/api/keys', { name: 'operations', scopes: ['query', 'ingest', 'manage'] });
await call('/api/keys', { name: 'dashboard', scopes: ['query'], pins: { project: 'aurora' } });
await call('/api/logs?source=gotrue.logs.prod', [
  { timestamp: 'yesterday', event_message: 'user signed in' },
]);

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
for (const [name, colorScheme, path, act] of PICTURES) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
  await page.addInitScript({ content: `sessionStorage.setItem('tailrace.key', ${JSON.stringify(key)})` });
  await page.goto(url + path);
  await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await act?.(page);
  await page.screenshot({ path: `docs/screenshots/${name}.png`, animations: 'disabled' });
  await page.close();
  process.stdout.write(`docs/screenshots/${name}.png\n`);
}
await browser.close();

async function call(path: string, body: object): Promise<void> {
  await fetch(url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
