import { expect, test } from 'vitest';
import { get, QUERY_PATH } from '../support/http.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';
import { open, run, signIn, startBrowser } from './browser.ts';

const { core, url } = await ownService();
startBrowser(url);

const project = 'shop';
const statusOf = async (asked: string, key: string) =>
  (await get(url, `${QUERY_PATH}/logs.all?project=${asked}`, { 'x-api-key': key })).status;

test('a person signs in, runs an endpoint, finds a line in Explore, and creates a key that works', async () => {
  const event = (path: string, status: number) => ({
    project,
    event_message: `GET ${path}`,
    metadata: { request: { method: 'GET', path }, response: { status_code: status } },
  });
  const events = [event('/rest/v1/carts', 200), event('/rest/v1/orders', 503), event('/auth/v1/user', 200)];
  await storeEvents(core, 'cloudflare.logs.prod', events, Date.now());

  const page = await open('/', { expected: [401] });
  const navigation = page.getByRole('navigation', { name: 'Console' });
  await signIn(page, 'no-such-key');
  await page.getByText('This key is not accepted').waitFor();
  await signIn(page, PRIVATE_KEY);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  await navigation.getByRole('link', { name: 'usage.api-counts' }).click();
  await page.getByLabel('project').fill(project);
  await page.getByLabel('interval').selectOption('daily');
  await run(page);
  const legend = page.getByRole('figure', { name: 'Requests by area' }).getByRole('listitem');
  await legend.filter({ hasText: /Rest\s*2 in all/ }).waitFor();
  await legend.filter({ hasText: /Auth\s*1 in all/ }).waitFor();

  await navigation.getByRole('link', { name: 'Explore' }).click();
  await page.getByRole('combobox', { name: 'Search', exact: true }).fill(`project:${project} orders`);
  await page.keyboard.press('Enter');
  const line = page.getByRole('region', { name: 'Lines, newest first' }).getByRole('listitem');
  await expect.poll(() => line.allInnerTexts()).toEqual([expect.stringContaining('GET /rest/v1/orders')]);
  await line.locator('.line-head').click();
  await line.getByRole('button', { name: '503' }).waitFor();

  await navigation.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name', { exact: true }).fill(`reads ${project}`);
  await form.getByRole('button', { name: 'Pin a value' }).click();
  await form.getByLabel('Value of project').fill(project);
  await form.getByRole('button', { name: 'Create the key' }).click();
  const created = page.getByRole('region', { name: `reads ${project}: the new key` });
  const key = await created.locator('code').first().innerText();
  expect(await statusOf(project, key)).toBe(200);
  expect(await statusOf('another', key)).toBe(403);
});
