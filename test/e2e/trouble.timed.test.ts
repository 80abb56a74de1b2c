import { afterAll, describe, expect, test } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { PRIVATE_KEY as key, startTestService } from '../support/service.ts';
import { open, run, startBrowser } from './browser.ts';

const endpoints = await copyEndpointsWithEndless();
const { service, core, clock, url, close } = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '1',
    TAILRACE_QUERY_TIMEOUT_MS: '8000',
  },
});
startBrowser(url);
afterAll(async () => {
  await close();
  await endpoints.remove();
});

describe('a slow engine', () => {
  test('leaves the console usable, and a query that takes too long ends with advice', async () => {
    const other = await open('/', { key });
    const page = await open('/endpoints/endless.plain', { expected: [504] });
    await page.getByLabel('project').fill('p1');
    const answered = run(page);
    await other.getByText('1 of 1 readers busy').waitFor();
    await other.getByRole('link', { name: 'Keys' }).click();
    await other.getByRole('button', { name: 'Create a key' }).waitFor();
    await answered;
    await page
      .getByRole('alert')
      .filter({ hasText: /8000 ms[\s\S]*Query a shorter range[\s\S]*504 query_timeout/ })
      .waitFor();
  });
});

test('without its engine the console says so, and keys can still be revoked', async () => {
  const { id } = await service.keyring.create({ name: 'still there', scopes: ['query'] });
  const page = await open('/', { key, expected: [503] });
  await page.getByText('Ready', { exact: true }).waitFor();
  await core.engine.close();
  clock.now += 6_000; // what was read of the store before is too old by now
  await page.getByText('Away', { exact: true }).waitFor();
  await page.goto(`${url}/endpoints/logs.all?project=p1`);
  await page
    .getByRole('alert')
    .filter({ hasText: /engine[\s\S]*is unavailable[\s\S]*503 engine_unavailable/ })
    .waitFor();
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Revoke still there' }).click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key still there is revoked').waitFor();
  expect((await service.keyring.find(id))?.revokedMs).toBeGreaterThan(0);
});
