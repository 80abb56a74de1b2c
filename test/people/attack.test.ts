import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { createBrowserClient } from '../support/browser-client.ts';
import { HEADER, type Lie, withClaims } from '../support/lying-provider.ts';
import { CLIENT_SECRET } from '../support/oidc.ts';
import { startLyingPeople } from '../support/people.ts';

type Browser = ReturnType<typeof createBrowserClient>;
const people = await startLyingPeople({ described: 'https://other.example' });
afterAll(people.close);
const atStart = [(await people.begin()).page, (await people.call('usage.by-project')).status];
people.provider.lie.now = {};

const seconds = (more: number) => Math.floor(Date.now() / 1000) + more;
const FAILED = { to: '/?sign_in=failed', isIn: false };
const ELSEWHERE = { to: '/?sign_in=elsewhere', isIn: false };
const EXPIRED = { to: '/?sign_in=expired', isIn: false };

test('a provider that names another issuer signs nobody in until it is right, and keys go on', async () => {
  expect(atStart).toEqual(['/?sign_in=unavailable', 200]);
  expect((await people.begin()).page).toContain(`${people.provider.issuer}/auth?`);
});

test('a right ID token signs in, also right after the provider has replaced its key', async () => {
  for (let keys = 0; keys < 2; keys++) {
    expect(await people.signInWith({})).toEqual({ to: '/api/me', isIn: true });
    await people.provider.rotateKey();
  }
});

test('an ID token signs in once: that of an earlier sign-in has its nonce', async () => {
  let kept: string | undefined;
  const keep = async (right: Parameters<NonNullable<Lie['token']>>[0]) => {
    kept ??= await withClaims(() => ({}))(right);
    return kept;
  };
  expect(await people.signInWith({ token: keep })).toMatchObject({ isIn: true });
  expect(await people.signInWith({ token: keep })).toEqual(FAILED);
});

const asText = (secret: string) => new TextEncoder().encode(secret);
test.each<[string, Lie]>([
  ['without a signature', { token: ({ claims }) => new UnsecuredJWT(claims).encode() }],
  [
    'signed with the secret of the client',
    {
      token: ({ claims }) =>
        new SignJWT(claims).setProtectedHeader({ ...HEADER, alg: 'HS256' }).sign(asText(CLIENT_SECRET)),
    },
  ],
  [
    'whose signature is that of other claims',
    {
      async token(right) {
        const [tokens, others] = await Promise.all(
          [{}, { sub: 'root' }].map((one) => withClaims(() => one)(right)),
        );
        return [...(others ?? '').split('.').slice(0, 2), tokens?.split('.')[2]].join('.');
      },
    },
  ],
  ['of another issuer', { token: withClaims(() => ({ iss: 'https://other.example' })) }],
  ['for another client', { token: withClaims(() => ({ aud: 'another' })) }],
  ['with another nonce', { token: withClaims(() => ({ nonce: 'another' })) }],
  ['that has expired', { token: withClaims(() => ({ exp: seconds(-3_600) })) }],
  ['whose user info is that of somebody else', { info: { sub: 'mal' } }],
])('an ID token %s signs nobody in', async (_, lie) => {
  expect(await people.signInWith(lie)).toEqual(FAILED);
});

describe('the response of a provider', () => {
  test('with another state, or of another issuer, opens no session', async () => {
    for (const state of ['another', '']) expect(await people.signInWith({}, { state })).toEqual(EXPIRED);
    expect(await people.signInWith({}, { iss: 'https://other.example' })).toMatchObject({ isIn: false });
  });

  test('in the browser of somebody else signs nobody in: no login CSRF', async () => {
    const attackers = people.provider.pass((await people.begin()).page);
    const { browser: victim } = await people.begin(); // who has begun another one
    expect(await people.come(victim, attackers)).toEqual(EXPIRED);
    expect(await people.come(createBrowserClient(), attackers)).toEqual(ELSEWHERE);
  });

  test.each<[string, (back: URL) => void]>([
    ['as it was', () => {}],
    ['with another code', ({ searchParams }) => searchParams.set('code', 'another')],
    ['with two codes', ({ searchParams }) => searchParams.append('code', 'another')],
    ['with two states', ({ searchParams }) => searchParams.append('state', 'another')],
    ['with one more parameter', ({ searchParams }) => searchParams.set('session_state', 'a')],
  ])('is good once, even if the provider accepts its code again: %s', async (_, change) => {
    const { browser, page } = await people.begin();
    const back = people.provider.pass(page);
    const jar = new Map(browser.jarOf(people.url));
    expect(await people.come(browser, back)).toMatchObject({ isIn: true });
    const thief = createBrowserClient();
    for (const [name, value] of jar) thief.jarOf(people.url).set(name, value);
    const again = new URL(back);
    change(again);
    expect(await people.come(thief, again.href)).toMatchObject({ isIn: false });
  });

  test('is too late after ten minutes', async () => {
    const { browser, page } = await people.begin();
    people.clock.now += 601_000;
    expect(await people.come(browser, people.provider.pass(page))).toEqual(EXPIRED);
  });
});

test('an address is verified where it is named: the user info does not vouch for that of the ID token', async () => {
  const nameOf = async (email: string) => {
    const info = { email: 'ada@example.com', email_verified: true, name: 'Ada' };
    people.provider.lie.now = { token: withClaims(() => ({ email })), info };
    const { browser, page } = await people.begin();
    await people.come(browser, people.provider.pass(page));
    people.provider.lie.now = {};
    return ((await (await browser.send(`${people.url}/api/me`)).json()) as { name: string }).name;
  };
  expect(await nameOf('ada@example.com')).toBe('ada@example.com');
  expect(await nameOf('boss@example.com')).toBe('Ada');
});

test('a sign-in that was begun at another address than TAILRACE_PUBLIC_URL leads to that, and to a reason', async () => {
  const browser = createBrowserClient();
  const begun = await browser.send(`${people.url.replace('127.0.0.1', 'localhost')}/auth/login?to=/api/me`);
  const back = people.provider.pass(begun.headers.get('location') ?? '');
  expect(back).toMatch(new RegExp(`^${people.url}/auth/callback`));
  expect(await people.come(browser, back)).toEqual(ELSEWHERE);
});

test('a sign-in returns to no other origin, and says so before it begins', async () => {
  const url = `${people.url}/auth/login?to=${encodeURIComponent('//evil.example')}`;
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(400);
});

describe('a cookie', () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${people.url}/api/me`, { headers }).then(({ status }) => status);
  const cookieOf = (browser: Browser) => [...browser.jarOf(people.url)][0] ?? ['', ''];

  test('that was there before the sign-in is not that of the session: no fixation', async () => {
    const { browser, page } = await people.begin();
    const name = `tailrace-${new URL(people.url).port}`;
    const secret = `ts_0123456789ab_${'A'.repeat(43)}`;
    browser.jarOf(people.url).set(name, secret);
    expect(await people.come(browser, people.provider.pass(page))).toMatchObject({ isIn: true });
    expect(browser.jarOf(people.url).get(name)).not.toBe(secret);
    expect(await send({ cookie: `${name}=${secret}` })).toBe(401);
  });

  test('of an earlier sign-in ends with the next one', async () => {
    const { browser, page } = await people.begin();
    await people.come(browser, people.provider.pass(page));
    const [name, old] = cookieOf(browser);
    await people.come(browser, people.provider.pass((await people.begin(browser)).page));
    expect(cookieOf(browser)[1]).not.toBe(old);
    expect(await send({ cookie: `${name}=${old}` })).toBe(401);
  });

  test('of plain HTTP that passed a proxy, came twice, or was changed does not count', async () => {
    const { browser, page } = await people.begin();
    await people.come(browser, people.provider.pass(page));
    const [name, value] = cookieOf(browser);
    const changed = `${value.slice(0, -1)}${value.endsWith('A') ? 'E' : 'A'}`;
    const cookie = `${name}=${value}`;
    expect(await send({ cookie })).toBe(200);
    expect(await send({ cookie, 'x-forwarded-for': '192.0.2.1' })).toBe(401); // a sibling host could have set it
    expect(await send({ cookie: `${cookie}; ${cookie}` })).toBe(401);
    expect(await send({ cookie: `${name}=${changed}` })).toBe(401);
    expect(await send({ 'x-api-key': value })).toBe(401);
  });
});

test('sign-ins from one address are bounded', async () => {
  people.clock.now += 3_600_000;
  const send = () => fetch(`${people.url}/auth/callback?code=a&state=b`, { redirect: 'manual' });
  const outcomes = new Set<string | null>();
  for (let tries = 0; tries < 70; tries++) outcomes.add((await send()).headers.get('location'));
  expect([...outcomes]).toEqual(['/?sign_in=elsewhere', '/?sign_in=limit']);
});
