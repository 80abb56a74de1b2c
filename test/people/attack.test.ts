import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBrowserClient } from '../support/browser-client.ts';
import { type Lie, startLyingProvider } from '../support/lying-provider.ts';
import { startProvider } from '../support/oidc.ts';
import { startWithProvider } from '../support/people.ts';

type People = Awaited<ReturnType<typeof start>>;
const start = () => startWithProvider(startLyingProvider);
let people: People;
beforeAll(async () => {
  people = await start();
});
afterAll(() => people.close());

/** A browser that has begun a sign-in. @returns also the provider's page */
async function begin() {
  people.clock.now += 60_000; // for the rate of sign-ins
  const browser = createBrowserClient();
  const response = await browser.send(`${people.url}/auth/login?to=/api/me`);
  return { browser, page: response.headers.get('location') ?? '' };
}

/** Sends a browser to the callback. @returns where it goes next, and whether it has a session */
async function come(browser: ReturnType<typeof createBrowserClient>, back: string) {
  const response = await browser.send(back);
  const me = await browser.send(`${people.url}/api/me`);
  return { to: response.headers.get('location'), isIn: me.status === 200 };
}

async function signInWith(now: Lie, change: Record<string, string> = {}) {
  people.provider.lie.now = now;
  const { browser, page } = await begin();
  const outcome = await come(browser, people.provider.pass(page, change));
  people.provider.lie.now = {};
  return outcome;
}

test('a right ID token signs in', async () => {
  expect(await signInWith({})).toEqual({ to: '/api/me', isIn: true });
  expect(await signInWith({ expiresIn: -30, issuedIn: 30 })).toMatchObject({ isIn: true }); // a clock that differs
});

describe('an ID token', () => {
  test.each<[string, Lie]>([
    ['without a signature', { sign: 'none' }],
    ['signed with the secret of the client', { sign: 'secret' }],
    ['signed with another key under a known name', { sign: 'stranger' }],
    ['of another issuer', { issuer: 'https://other.example' }],
    ['for another client', { audience: 'another' }],
    ['with another nonce', { nonce: 'another' }],
    ['that has expired', { expiresIn: -120 }],
    ['whose user info is that of somebody else', { infoOf: 'mal' }],
  ])('%s signs nobody in', async (_, lie) => {
    expect(await signInWith(lie)).toEqual({ to: '/?sign_in=failed', isIn: false });
  });
});

describe('the response of a provider', () => {
  test.each<[string, Record<string, string>]>([
    ['with another state', { state: 'another' }],
    ['without a state', { state: '' }],
  ])('%s opens no session', async (_, change) => {
    expect(await signInWith({}, change)).toEqual({ to: '/?sign_in=expired', isIn: false });
  });

  test('of another issuer is not taken for its own', async () => {
    expect(await signInWith({}, { iss: 'https://other.example' })).toMatchObject({ isIn: false });
  });

  test('that refuses says so', async () => {
    const outcome = await signInWith({}, { error: 'access_denied', error_description: '<script>' });
    expect(outcome).toEqual({ to: '/?sign_in=refused', isIn: false });
  });

  test('in the browser of somebody else signs nobody in: no login CSRF', async () => {
    const { page } = await begin();
    const attackers = people.provider.pass(page);
    const { browser: victim } = await begin(); // who has begun another one
    expect(await come(victim, attackers)).toEqual({ to: '/?sign_in=expired', isIn: false });
    expect(await come(createBrowserClient(), attackers)).toEqual({ to: '/?sign_in=expired', isIn: false });
  });

  test('is good once, even if the provider accepts its code again', async () => {
    const { browser, page } = await begin();
    const back = people.provider.pass(page);
    const jar = new Map(browser.jarOf(people.url));
    expect(await come(browser, back)).toMatchObject({ isIn: true });
    const thief = createBrowserClient();
    for (const [name, value] of jar) thief.jarOf(people.url).set(name, value);
    expect(await come(thief, back)).toEqual({ to: '/?sign_in=expired', isIn: false });
  });

  test('is too late after ten minutes', async () => {
    const { browser, page } = await begin();
    people.clock.now += 601_000;
    expect(await come(browser, people.provider.pass(page))).toEqual({ to: '/?sign_in=expired', isIn: false });
  });
});

describe('a cookie', () => {
  const SECRET = 'ts_0123456789ab_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  const send = (headers: Record<string, string>) =>
    fetch(`${people.url}/api/me`, { headers }).then(({ status }) => status);
  const cookieOf = (browser: ReturnType<typeof createBrowserClient>) =>
    [...browser.jarOf(people.url)][0] ?? ['', ''];

  test('that was there before the sign-in is not that of the session: no fixation', async () => {
    const { browser, page } = await begin();
    const name = `tailrace-${new URL(people.url).port}`;
    browser.jarOf(people.url).set(name, SECRET);
    expect(await come(browser, people.provider.pass(page))).toMatchObject({ isIn: true });
    expect(browser.jarOf(people.url).get(name)).not.toBe(SECRET);
    expect(await send({ cookie: `${name}=${SECRET}` })).toBe(401);
  });

  test('of an earlier sign-in ends with the next one', async () => {
    const { browser, page } = await begin();
    await come(browser, people.provider.pass(page));
    const [name, old] = cookieOf(browser);
    const next = await browser.send(`${people.url}/auth/login`);
    await come(browser, people.provider.pass(next.headers.get('location') ?? ''));
    expect(cookieOf(browser)[1]).not.toBe(old);
    expect(await send({ cookie: `${name}=${old}` })).toBe(401);
  });

  test('of plain HTTP that passed a proxy, or came twice, does not count: a sibling host could have set it', async () => {
    const { browser, page } = await begin();
    await come(browser, people.provider.pass(page));
    const [name, value] = cookieOf(browser);
    const changed = `${value.slice(0, -1)}${value.endsWith('A') ? 'E' : 'A'}`;
    const cookie = `${name}=${value}`;
    expect(await send({ cookie })).toBe(200);
    expect(await send({ cookie, 'x-forwarded-for': '192.0.2.1' })).toBe(401);
    expect(await send({ cookie: `${cookie}; ${cookie}` })).toBe(401);
    expect(await send({ cookie: `${name}=${changed}` })).toBe(401);
    expect(await send({ 'x-api-key': value })).toBe(401);
  });
});

test('a provider that names another issuer is not asked to sign anybody in', async () => {
  const provider = await startLyingProvider();
  provider.lie.now = { described: 'https://other.example' };
  const fresh = await startWithProvider(async () => provider);
  const ask = async () =>
    (await fetch(`${fresh.url}/auth/login`, { redirect: 'manual' })).headers.get('location');
  try {
    expect(await ask()).toBe('/?sign_in=unavailable');
    provider.lie.now = {}; // and it recovers by itself
    expect(await ask()).toContain(`${provider.issuer}/auth?`);
  } finally {
    await fresh.close();
  }
});

test('a provider that is down at the start keeps nobody with a key out, and sign-ins begin when it responds', async () => {
  const fresh = await startWithProvider(async (url) => {
    const provider = await startProvider(url);
    await provider.stop();
    return provider;
  });
  const ask = async () =>
    (await fetch(`${fresh.url}/auth/login`, { redirect: 'manual' })).headers.get('location');
  try {
    expect((await fresh.call('usage.ingest')).status).toBe(200);
    expect(await ask()).toBe('/?sign_in=unavailable');
    await fresh.provider.listen();
    expect(await ask()).toContain(`${fresh.provider.issuer}/auth?`);
  } finally {
    await fresh.close();
  }
});

test('sign-ins from one address are bounded', async () => {
  people.clock.now += 3_600_000;
  const send = () => fetch(`${people.url}/auth/callback?code=a&state=b`, { redirect: 'manual' });
  const outcomes = new Set<string | null>();
  for (let tries = 0; tries < 70; tries++) outcomes.add((await send()).headers.get('location'));
  expect([...outcomes]).toEqual(['/?sign_in=expired', '/?sign_in=limit']);
});
