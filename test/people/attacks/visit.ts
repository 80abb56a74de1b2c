import { createBrowserClient } from '../../support/browser-client.ts';
import type { Lie, startLyingProvider } from '../../support/lying-provider.ts';
import type { startPeople, startWithProvider } from '../../support/people.ts';

/** A service whose people sign in at a real provider. */
export type People = Awaited<ReturnType<typeof startPeople>>;
export type Lying = Awaited<
  ReturnType<typeof startWithProvider<Awaited<ReturnType<typeof startLyingProvider>>>>
>;
export type Browser = ReturnType<typeof createBrowserClient>;

type Service = Pick<Lying, 'url' | 'clock'>;

/** Begins a sign-in. @returns the page of the provider */
export async function begin({ url, clock }: Service, browser: Browser): Promise<string> {
  clock.now += 5_000; // for the rate of sign-ins
  const response = await browser.send(`${url}/auth/login?to=/api/me`);
  return response.headers.get('location') ?? '';
}

/** The person whom the service sees in a browser; `undefined` for nobody. */
export async function nameIn({ url }: Pick<Service, 'url'>, browser: Browser): Promise<string | undefined> {
  const response = await browser.send(`${url}/api/me`);
  return response.status === 200 ? ((await response.json()) as { name: string }).name : undefined;
}

/** Begins a sign-in at a provider and returns with its response. @param change of the response */
export async function passLying(
  people: Lying,
  lie: Lie,
  change: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const browser = createBrowserClient();
  people.provider.lie.now = lie;
  try {
    await browser.send(people.provider.pass(await begin(people, browser), change));
    return (await nameIn(people, browser)) !== undefined;
  } finally {
    people.provider.lie.now = {};
  }
}

/** Passes the page of the real provider. @returns where it sends the browser, which has not been asked for */
export async function passReal(people: People, browser: Browser, account: string): Promise<string> {
  const page = await begin(people, browser);
  people.provider.state.as = account;
  return await browser.follow(page, (url) => url.startsWith(`${people.url}/auth/callback`));
}
