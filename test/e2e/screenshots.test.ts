import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KEY, open, rowsOf, startBrowser } from './browser.ts';

startBrowser();

const FOLDER = join(import.meta.dirname, '../../docs/screenshots');
const BYTES_MAX = 300 * 1024;
const ADDRESSES = {
  overview: '/',
  statistics: '/endpoints/functions.invocation-stats?project=aurora&interval=1day',
  usage: '/endpoints/usage.api-counts?project=aurora&interval=daily',
  logs: '/endpoints/logs.all?project=aurora&project_tier=PRO',
};
const PICTURES = [
  ['overview', 'light'],
  ['statistics', 'light'],
  ['usage', 'dark'],
  ['logs', 'dark'],
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
  const page = await open(ADDRESSES[name], { key: KEY, colorScheme, viewport: { width: 1280, height: 900 } });
  await page.getByRole('heading', { level: 2 }).first().waitFor();
  await page.waitForLoadState('networkidle');
  if (name !== 'overview') {
    await page.getByRole('heading', { name: 'Answer' }).scrollIntoViewIfNeeded();
    await page.evaluate(() => document.querySelector('.answer')?.scrollIntoView({ block: 'center' }));
  }
  if (name === 'logs') await page.getByRole('region', { name: /^Log/ }).getByRole('button').nth(1).click();
  await page.screenshot({ path, animations: 'disabled' });
}

/** So that the overview has something to tell. */
async function makeTraffic(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    await rowsOf('usage.api-counts', { project: 'aurora', interval: 'hourly' });
    await rowsOf('functions.invocation-stats', { project: 'aurora', interval: '1day' });
    await rowsOf('logs.all', { project: 'aurora' });
  }
}
