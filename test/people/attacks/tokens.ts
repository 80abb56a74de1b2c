import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type { RightToken } from '../../support/lying-provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../support/oidc.ts';
import { createAttacks, type Kind, lookAlikes } from './kind.ts';
import { type Lying, passLying } from './visit.ts';

type Forge = (right: RightToken) => string | undefined | Promise<string | undefined>;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = { alg: 'RS256', kid: 'own' };

/** An ID token with other claims, but a right signature. `undefined` removes a claim. */
const withClaims =
  (change: (right: RightToken['claims']) => object): Forge =>
  ({ claims, key }) =>
    new SignJWT({ ...claims, ...change(claims) } as JWTPayload).setProtectedHeader(HEADER).sign(key);

const signed = async (right: RightToken) =>
  await new SignJWT(right.claims).setProtectedHeader(HEADER).sign(right.key);

/** ID tokens that nobody has signed, or somebody else. */
export function createTokenKinds(people: Lying): Kind[] {
  const attempt = (token: Forge) => passLying(people, { token });
  const control = () => passLying(people, { token: signed });
  return [
    { name: 'ID tokens without a signature', attacks: createAttacks(UNSIGNED, attempt), control },
    { name: 'ID tokens with a forged signature', attacks: createAttacks(FORGED, attempt), control },
    { name: 'ID tokens for another time or client', attacks: createAttacks(CLAIMS, attempt), control },
    { name: 'nonces of another sign-in', attacks: createAttacks(nonces(), attempt), control },
  ];
}

const ALGORITHMS = [
  'none',
  'None',
  'NONE',
  'nOnE',
  'none ',
  '',
  'null',
  'RS256',
  'HS256',
  'dir',
  'ES256',
  'EdDSA',
  'RS0',
];
const SIGNATURES = ['', 'AA', 'a'.repeat(342), 'none'];
const UNSIGNED: Readonly<Record<string, Forge>> = Object.fromEntries(
  ALGORITHMS.flatMap((alg) =>
    SIGNATURES.map((signature): [string, Forge] => [
      `${JSON.stringify(alg)} with ${JSON.stringify(signature.slice(0, 9))}`,
      ({ claims }) => `${encode({ ...HEADER, alg })}.${encode(claims)}.${signature}`,
    ]),
  ),
);

const hmac =
  (alg: string, secretOf: (right: RightToken) => string | Promise<string>): Forge =>
  async (right) =>
    await new SignJWT(right.claims)
      .setProtectedHeader({ alg, kid: 'own' })
      .sign(new TextEncoder().encode(await secretOf(right)));

const byStranger =
  (header: (publicKey: CryptoKey) => Promise<object> | object, alg = 'RS256'): Forge =>
  async ({ claims }) => {
    const own = await generateKeyPair(alg);
    const protectedHeader = { ...HEADER, alg, ...(await header(own.publicKey)) } as JWTHeaderParameters;
    return await new SignJWT(claims).setProtectedHeader(protectedHeader).sign(own.privateKey);
  };

const changed =
  (change: (parts: [string, string, string], right: RightToken) => readonly string[]): Forge =>
  async (right) =>
    change((await signed(right)).split('.') as [string, string, string], right).join('.');

const SECRETS: Readonly<Record<string, (right: RightToken) => string | Promise<string>>> = {
  'the client secret': () => CLIENT_SECRET,
  'the public key as PEM': async ({ publicKey }) => await exportSPKI(publicKey),
  'the public key as JWK': async ({ publicKey }) => JSON.stringify(await exportJWK(publicKey)),
  'its modulus': async ({ publicKey }) => String((await exportJWK(publicKey)).n),
  'the client': () => CLIENT_ID.padEnd(64, '\0'),
};
const FORGED: Readonly<Record<string, Forge>> = {
  ...Object.fromEntries(
    ['HS256', 'HS384', 'HS512'].flatMap((alg) =>
      Object.entries(SECRETS).map(([name, secretOf]) => [`${alg} with ${name}`, hmac(alg, secretOf)]),
    ),
  ),
  ...Object.fromEntries(
    ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'EdDSA'].map((alg) => [
      `${alg} of a stranger`,
      byStranger(() => ({}), alg),
    ]),
  ),
  'a stranger’s key in the header': byStranger(async (key) => ({ jwk: await exportJWK(key) })),
  'a stranger’s key by address': byStranger(() => ({ jku: 'http://127.0.0.1:9/jwks' })),
  'a stranger’s certificate': byStranger(() => ({ x5u: 'http://127.0.0.1:9/x', x5c: ['AA'] })),
  'a stranger without a key id': byStranger(() => ({ kid: undefined })),
  'a stranger by another key id': byStranger(() => ({ kid: '../../dev/null' })),
  'a stranger by an empty key id': byStranger(() => ({ kid: '' })),
  'an unknown critical header': byStranger(() => ({ crit: ['b64'], b64: true })),
  'claims of another person': changed(([head, , sign], { claims }) => [
    head,
    encode({ ...claims, sub: 'root' }),
    sign,
  ]),
  'another header': changed(([, body, sign]) => [encode({ ...HEADER, typ: 'at+jwt' }), body, sign]),
  'a cut signature': changed(([head, body, sign]) => [head, body, sign.slice(0, -8)]),
  'a reversed signature': changed(([head, body, sign]) => [head, body, [...sign].toReversed().join('')]),
  'a signature of zeros': changed(([head, body, sign]) => [head, body, 'A'.repeat(sign.length)]),
  'two parts': changed(([head, body]) => [head, body]),
  'four parts': changed((parts) => [...parts, parts[2]]),
  'five parts': changed((parts) => [...parts, '', '']),
  'no header': changed(([, body, sign]) => ['', body, sign]),
  'no claims': changed(([head, , sign]) => [head, '', sign]),
  'claims that are no object': changed(([head, , sign]) => [head, encode([]), sign]),
  'an empty text': () => '',
  'no token': () => undefined,
};

const seconds = (more: number) => Math.floor(Date.now() / 1000) + more;
const DAY = 86_400;
const CLAIMS: Readonly<Record<string, Forge>> = {
  ...Object.fromEntries(
    [-90, -600, -DAY, -365 * DAY].map((more) => [
      `expired for ${-more} s`,
      withClaims(() => ({ exp: seconds(more) })),
    ]),
  ),
  'without an expiry': withClaims(() => ({ exp: undefined })),
  'with a text as expiry': withClaims(() => ({ exp: 'never' })),
  'with an expiry of zero': withClaims(() => ({ exp: 0 })),
  'with a negative expiry': withClaims(() => ({ exp: -1 })),
  'without a time of issue': withClaims(() => ({ iat: undefined })),
  'with a text as time of issue': withClaims(() => ({ iat: 'now' })),
  'valid only tomorrow': withClaims(() => ({ nbf: seconds(DAY) })),
  'without a subject': withClaims(() => ({ sub: undefined })),
  'with an empty subject': withClaims(() => ({ sub: '' })),
  'with a number as subject': withClaims(() => ({ sub: 7 })),
  'of another subject than the user info': withClaims(() => ({ sub: 'mal' })),
  'for nobody': withClaims(() => ({ aud: undefined })),
  'for an empty list': withClaims(() => ({ aud: [] })),
  'for a list without the client': withClaims(() => ({ aud: ['a', 'b'] })),
  'for several, of which another is authorized': withClaims(() => ({ aud: [CLIENT_ID, 'b'], azp: 'b' })),
  ...Object.fromEntries(
    Object.entries(lookAlikes(CLIENT_ID)).map(([shape, aud]) => [
      `for ${shape}`,
      withClaims(() => ({ aud })),
    ]),
  ),
};

let earlier = 'the-nonce-of-an-earlier-sign-in';

function nonces(): Record<string, Forge> {
  const shapes = Object.keys(lookAlikes('a-right-one'));
  return {
    ...Object.fromEntries(
      shapes.map((shape) => [
        `the nonce ${shape}`,
        withClaims(({ nonce }) => {
          const like = lookAlikes(nonce)[shape];
          const last = earlier;
          earlier = nonce;
          return { nonce: like ?? last };
        }),
      ]),
    ),
    'the nonce of the sign-in before': withClaims(() => ({ nonce: earlier })),
    'no nonce': withClaims(() => ({ nonce: undefined })),
    'a list with the nonce': withClaims(({ nonce }) => ({ nonce: [nonce] })),
    'an object with the nonce': withClaims(({ nonce }) => ({ nonce: { nonce } })),
    'a nonce of null': withClaims(() => ({ nonce: null })),
    'a nonce of true': withClaims(() => ({ nonce: true })),
  };
}
