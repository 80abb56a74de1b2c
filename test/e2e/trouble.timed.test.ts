import { afterAll, describe, expect, test } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';
import { type OpenOptions, open, run, startBrowser } from './sampled.ts';

startBrowser();

// A service that these tests hold in their own process: its engine is kept busy, and stopped.
const endpoints = await copyEndpointsWithEndless();
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '1',
    TAILRACE_QUERY_TIMEOUT_MS: '15000',
  },
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});

const here = (path: string, options: OpenOptions = {}) =>
  open(path, { key: PRIVATE_KEY, origin: service.url, ...options });
const LOGS = '/endpoints/logs.all?project=p1';

describe('a slow engine', () => {
  test('leaves the console usable, and what takes too long is told with what to do', async () => {
    const other = await here('/');
    const page = await here('/endpoints/endless.plain', { expected: [504] });
    await page.getByLabel('project').fill('p1');
    const answered = run(page);
    await page.getByRole('button', { name: 'Running…' }).waitFor();
    await other.getByText('1 of 1 readers busy').waitFor();
    await other.getByRole('link', { name: 'Keys' }).click();
    await other.getByRole('button', { name: 'Create a key' }).waitFor();
    await answered;
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/15000 ms[\s\S]*Query a shorter range[\s\S]*504 query_timeout/);
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  });

  test('is relieved of a query whose page is left', async () => {
    const page = await here('/endpoints/endless.plain');
    await page.getByLabel('project').fill('p2');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect.poll(() => service.core.engine.gauges().running).toBe(1);
    await page.getByRole('link', { name: 'Overview' }).click();
    // Far sooner than by its time limit, which would be told as a failure.
    await expect.poll(() => service.core.engine.gauges().running).toBe(0);
  });
});

test('what an operator has to see to stands above the overview, in the words of the service', async () => {
  const page = await here('/');
  await page.route('**/api/overview', async (route) => {
    const overview = (await (await route.fetch()).json()) as object;
    const notices = [{ topic: 'retention', message: 'the clock is 100 days ahead' }];
    await route.fulfill({ json: { ...overview, notices } });
  });
  const alert = page.getByRole('alert').filter({ hasText: 'Retention has stopped' });
  await alert.waitFor();
  expect(await alert.innerText()).toContain('the clock is 100 days ahead');
});

test('a refusal is in the audit trail, with its reason', async () => {
  const { keyring } = service.service;
  const { key, id } = await keyring.create({ name: 'too far', scopes: ['query'], endpoints: ['logs.all'] });
  const url = `${service.url}/api/endpoints/query/usage.api-counts?project=p1&interval=daily`;
  for (let i = 0; i < 3; i++) expect((await fetch(url, { headers: { 'x-api-key': key } })).status).toBe(403);
  await keyring.flush(); // as the service does once a minute
  const page = await here('/keys');
  const trail = page.getByRole('region', { name: 'Audit trail' });
  await trail.getByText(`3 requests with too far ${id} refused: the key may not read the endpoint`).waitFor();
});

test('a page of somebody else in the place of an answer is told as such', async () => {
  const page = await here(LOGS);
  await page.route('**/api/endpoints/query/**', (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<html>Please log in</html>' }),
  );
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('This response is not from Tailrace').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
});

test('a key with long words in its name and description leaves its buttons in view', async () => {
  await service.service.keyring.create({
    name: 'n'.repeat(100),
    description: 'd'.repeat(400),
    scopes: ['query'],
  });
  for (const width of [360, 1280]) {
    const page = await here('/keys', { viewport: { width, height: 800 } });
    const { x, width: size } = (await page.getByRole('button', { name: 'Revoke nnn' }).boundingBox()) ?? {
      x: 0,
      width: Infinity,
    };
    expect(x + size).toBeLessThanOrEqual(width);
  }
});

test('without its engine the console says so, what is wrong and what to do; keys can still be revoked', async () => {
  const { id } = await service.service.keyring.create({ name: 'still there', scopes: ['query'] });
  const before = await here('/');
  await before.getByText('Ready', { exact: true }).waitFor();
  await service.core.engine.close();
  service.clock.now += 6_000; // what was read of the store before is too old by now

  await before.getByText('Away', { exact: true }).waitFor({ timeout: 60_000 });
  await before.getByText('the engine does not respond').waitFor();
  const page = await here(LOGS, { expected: [503] });
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.innerText()).toMatch(
    /The engine or the store of keys is unavailable[\s\S]*503 engine_unavailable/,
  );

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Revoke still there' }).click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key still there is revoked').waitFor();
  expect((await service.service.keyring.find(id))?.revokedMs).toBeGreaterThan(0);
});

test('without the service the console says so', async () => {
  const page = await here('/sources', { expected: ['ERR_CONNECTION_REFUSED'] });
  await page.getByRole('row').nth(1).waitFor();
  await page.route('**/api/**', (route) => route.abort('connectionrefused'));
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByText('The service could not be reached').first().waitFor();
  await page.getByText('Check that the service runs').first().waitFor();
});
