import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { startPeople } from '../support/people.ts';
import { open, startBrowser } from './browser.ts';

// A real provider (oidc-provider), which signs in whoever the test names without asking, and asks before a sign-out.

const people = await startPeople();
people.provider.accounts.set('cy', { name: 'Cy', groups: ['guests'] });
afterAll(people.close);
startBrowser(people.url, new URL(people.provider.issuer).origin);

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const link = (page: Page) => page.getByRole('link', { name: 'Sign in with your company’s account' });

async function signIn(account: string, path = '/keys'): Promise<Page> {
  people.provider.state.as = account;
  const page = await open(path, { apart: true, expected: [401, 403, 404] });
  await link(page).click();
  return page;
}

test('a person comes back to the page, stays in after a reload and in another tab, and is out of all after the sign-out', async () => {
  const page = await signIn('ada', '/keys');
  await heading(page, 'Keys').waitFor();
  expect(new URL(page.url()).pathname).toBe('/keys');
  await page.reload();
  await heading(page, 'Keys').waitFor();
  const other = await page.context().newPage();
  await other.goto(`${people.url}/`);
  await heading(other, 'Overview').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  // The provider's own page, which signs out there.
  await page.getByRole('button', { name: /yes/i }).click();
  await link(page).waitFor();
  await other.reload();
  await link(other).waitFor();
});

test('a person whose group is in no role sees whom to ask, and nothing else', async () => {
  const page = await signIn('cy');
  await page.getByRole('heading', { name: 'You have no access' }).waitFor();
  await page.getByText('Cy has no role here').waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
});

test('a person learns that the provider is down, and signs in when it is back', async () => {
  const page = await open('/keys', { apart: true, expected: [401] });
  await people.provider.stop();
  people.clock.now += 300_001; // its description is kept for five minutes
  await link(page).click();
  await page.getByText('The provider that signs you in does not respond').waitFor();
  await people.provider.listen();
  people.provider.state.as = 'ada';
  await link(page).click();
  await heading(page, 'Overview').waitFor();
});
