import { expect, test } from 'vitest';
import { KEY, open, signIn, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

// What another service says of how one may sign in, and of who has.
const json = (body: object, status = 200) => ({
  ...{ status, contentType: 'application/json' },
  body: JSON.stringify(body),
});

test('a person without a role sees a page that says so and whom to ask, and nothing else', async () => {
  const page = await open('/');
  const denied = 'Cy has no role here; ask those who run this service which group to join';
  const none = { scopes: [], endpoints: [], sources: [], pins: {}, choices: {}, role: null, session: 'a' };
  const me = { ...none, kind: 'person', id: 'person:cy', name: 'Cy', token: false, denied, version: '0' };
  await page.route('**/auth/options', (route) =>
    route.fulfill(json({ provider: true, keys: true, session: true })),
  );
  await page.route('**/api/me', (route) => route.fulfill(json(me)));
  await page.goto(`${URL_OF_SERVICE}/explore`);
  await page.getByRole('heading', { name: 'You have no access' }).waitFor();
  await page.getByText(`${denied}.`).waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign out']);
});

test('a key that may not sign in is not kept by the tab either', async () => {
  const page = await open('/', { expected: [403] });
  const message = 'keys cannot sign in to this console: TAILRACE_CONSOLE_KEYS is 0';
  let keys = true; // as a page says that was open before
  await page.route('**/auth/options', (route) =>
    route.fulfill(json({ provider: true, keys, session: false })),
  );
  await page.route('**/auth/key', (route) => {
    keys = false;
    return route.fulfill(json({ error: { code: 'forbidden', message, errors: [], request_id: 'a' } }, 403));
  });
  await page.reload();
  await signIn(page, KEY);
  await expect.poll(() => page.locator('body').innerText(), { timeout: 20_000 }).toContain(message);
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(KEY);
  await page.reload();
  await page.getByRole('link', { name: 'Sign in with your company’s account' }).waitFor();
  expect(await page.getByLabel('API key').count()).toBe(0);
});
