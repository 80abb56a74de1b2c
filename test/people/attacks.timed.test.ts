import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowserClient } from '../support/browser-client.ts';
import { type Forge, HEADER, type RightToken, signRight, withClaims } from '../support/lying-provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/oidc.ts';
import { startLyingPeople } from '../support/people.ts';

// Many shapes of the attacks that attack.test.ts makes once.

let people: Awaited<ReturnType<typeof startLyingPeople>>;
beforeAll(async () => {
  people = await startLyingPeople();
});
afterAll(() => people.close());

type Shapes<T> = Readonly<Record<string, T>>;

/** Makes an attack in each shape, between two sign-ins without what is forged: unless they succeed, the attacks prove nothing. */
async function expectNone<T>(shapes: Shapes<T>, attempt: (shape: T) => Promise<{ isIn: boolean }>) {
  expect(await people.signInWith({})).toMatchObject({ isIn: true });
  const succeeded: string[] = [];
  for (const [name, shape] of Object.entries(shapes)) if ((await attempt(shape)).isIn) succeeded.push(name);
  expect(succeeded).toEqual([]);
  expect(await people.signInWith({})).toMatchObject({ isIn: true });
}

/** Texts that resemble another, and are not it. */
function lookAlikes(right: string): Record<string, string> {
  return {
    empty: '',
    'without its end': right.slice(0, -1),
    'with another end': `${right.slice(0, -1)}${right.endsWith('a') ? 'b' : 'a'}`,
    'with one more': `${right}a`,
    twice: `${right},${right}`,
    'in capitals': right === right.toUpperCase() ? right.toLowerCase() : right.toUpperCase(),
    'before a space': `${right} `,
    'before a NUL': `${right}\0`,
    'percent-encoded': [...right].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
    'as a wildcard': '*',
    'as null': 'null',
  };
}

const combine = <A, B, C>(some: Shapes<A>, others: Shapes<B>, join: (a: A, b: B) => C): Record<string, C> =>
  Object.fromEntries(
    Object.entries(some).flatMap(([x, a]) =>
      Object.entries(others).map(([y, b]) => [`${x}, ${y}`, join(a, b)]),
    ),
  );
const mapShapes = <A, B>(shapes: Shapes<A>, map: (shape: A) => B) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, map(shape)]));
const named = (texts: readonly string[]) => Object.fromEntries(texts.map((text) => [text, text]));

test('no state that resembles the right one opens a session', async () => {
  await expectNone(named(Object.keys(lookAlikes('a'))), async (name) => {
    const { browser, page } = await people.begin();
    const right = new URL(page).searchParams.get('state') ?? '';
    return await people.come(browser, people.provider.pass(page, { state: lookAlikes(right)[name] ?? '' }));
  });
});

test('no response is good a second time, though the provider accepts its code again', async () => {
  type Browser = ReturnType<typeof createBrowserClient>;
  const changeCookie = (change: (value: string) => string) => (_: URL, thief: Browser) => {
    const jar = thief.jarOf(people.url);
    for (const [name, value] of [...jar]) jar.set(name, change(value));
  };
  const set = (name: string, value: string) => (back: URL) => back.searchParams.set(name, value);
  const none = Buffer.from('{"alg":"none","enc":"A256GCM"}').toString('base64url');
  const shapes: Shapes<(back: URL, thief: Browser) => unknown> = {
    'with another code': set('code', 'another'),
    'with two states': (back) => back.searchParams.append('state', 'another'),
    'with an error beside the code': set('error', 'none'),
    'with an ID token in the URL': set('id_token', 'a.b.c'),
    'without its cookie': (_, thief) => thief.jarOf(people.url).clear(),
    'in a browser that has begun another sign-in': (_, thief) => people.begin(thief),
    'with a cookie that is cut': changeCookie((value) => value.slice(0, -4)),
    'with a cookie of another part': changeCookie((value) => value.replace(/\.[^.]+$/, '.AAAA')),
    'with a cookie of another algorithm': changeCookie((value) => value.replace(/^[^.]*/, none)),
  };
  await expectNone(shapes, async (change) => {
    const { browser, page } = await people.begin();
    const back = new URL(people.provider.pass(page));
    const thief = createBrowserClient();
    for (const [name, value] of browser.jarOf(people.url)) thief.jarOf(people.url).set(name, value);
    expect(await people.come(browser, back.href)).toMatchObject({ isIn: true });
    await change(back, thief);
    return await people.come(thief, back.href);
  });
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const asBytes = (text: string) => new TextEncoder().encode(text);

const byStranger =
  (header: (publicKey: CryptoKey) => Promise<object> | object, alg = 'RS256'): Forge =>
  async ({ claims }) => {
    const own = await generateKeyPair(alg);
    const protectedHeader = { ...HEADER, alg, ...(await header(own.publicKey)) } as JWTHeaderParameters;
    return await new SignJWT(claims).setProtectedHeader(protectedHeader).sign(own.privateKey);
  };

const changed =
  (change: (parts: string[], right: RightToken) => readonly unknown[]): Forge =>
  async (right) =>
    change((await signRight(right))?.split('.') ?? [], right).join('.');

const algorithms = ['none', 'NONE', 'nOnE', 'none ', '', 'null', 'RS256', 'HS256', 'dir', 'EdDSA', 'RS0'];
const SECRETS: Shapes<(right: RightToken) => string | Promise<string>> = {
  'the client secret': () => CLIENT_SECRET,
  'the public key as PEM': ({ publicKey }) => exportSPKI(publicKey),
  'the client': () => CLIENT_ID.padEnd(64, '\0'),
};
const FORGED: Shapes<Forge> = {
  ...combine(
    named(algorithms),
    named(['', 'AA', 'a'.repeat(342)]),
    (alg, signature): Forge =>
      ({ claims }) =>
        `${encode({ ...HEADER, alg })}.${encode(claims)}.${signature}`,
  ),
  ...combine(
    named(['HS256', 'HS384', 'HS512']),
    SECRETS,
    (alg, secretOf): Forge =>
      async (right) =>
        new SignJWT(right.claims).setProtectedHeader({ ...HEADER, alg }).sign(asBytes(await secretOf(right))),
  ),
  ...mapShapes(named(['RS256', 'RS512', 'PS256', 'ES256', 'EdDSA']), (alg) => byStranger(() => ({}), alg)),
  'a stranger’s key in the header': byStranger(async (key) => ({ jwk: await exportJWK(key) })),
  'a stranger’s key by address': byStranger(() => ({ jku: 'http://127.0.0.1:9/jwks' })),
  'a stranger by another key id': byStranger(() => ({ kid: '../../dev/null' })),
  'claims of another': changed(([head, , sign], { claims }) => [
    head,
    encode({ ...claims, sub: 'root' }),
    sign,
  ]),
  'a cut signature': changed(([head, body, sign]) => [head, body, sign?.slice(0, -8)]),
  'claims that are not an object': changed(([head, , sign]) => [head, encode([]), sign]),
  'no token': () => undefined,
};

const seconds = (more: number) => Math.floor(Date.now() / 1000) + more;
const CLAIMS: Shapes<Forge> = mapShapes(
  {
    expired: { exp: seconds(-90) },
    'without an expiry': { exp: undefined },
    'with a text as expiry': { exp: 'never' },
    'without a time of issue': { iat: undefined },
    'valid only tomorrow': { nbf: seconds(86_400) },
    'without a subject': { sub: undefined },
    'for nobody': { aud: undefined },
    'for a list without the client': { aud: ['a', 'b'] },
    'for several, of which another is authorized': { aud: [CLIENT_ID, 'b'], azp: 'b' },
    'without a nonce': { nonce: undefined },
    ...mapShapes(lookAlikes(CLIENT_ID), (aud) => ({ aud })),
  },
  (claims) => withClaims(() => claims),
);
const NONCES = mapShapes(named(Object.keys(lookAlikes('a'))), (name) =>
  withClaims(({ nonce }) => ({ nonce: lookAlikes(nonce)[name] })),
);

test.each([
  ['with a forged signature or none', FORGED],
  ['for another time, person or client', CLAIMS],
  ['with a nonce that resembles the right one', NONCES],
])('no ID token %s signs anybody in', async (_, shapes) => {
  await expectNone(shapes, (token) => people.signInWith({ token }));
});

test('nothing of another issuer counts: neither an ID token nor a response', async () => {
  const { issuer } = people.provider;
  const { host, port } = new URL(issuer);
  const others = {
    ...lookAlikes(issuer),
    'with a slash': `${issuer}/`,
    'over HTTPS': `https://${host}`,
    'by a name': `http://localhost:${port}`,
    'with a user': `http://a@${host}`,
    'as a user of another host': `${issuer}@evil.example`,
    'as a path of another host': `https://evil.example/${issuer}`,
  };
  await expectNone(others, (iss) => people.signInWith({ token: withClaims(() => ({ iss })) }));
  await expectNone(others, (iss) => people.signInWith({}, { iss }));
});
