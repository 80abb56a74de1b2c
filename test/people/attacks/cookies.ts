import { get } from 'node:http';
import { SECURE_COOKIES } from '../../../src/people/cookie.ts';
import { PRIVATE_KEY } from '../../support/service.ts';
import { createAttacks, type Kind } from './kind.ts';

/** A service over HTTPS behind a proxy on this machine, as browsers see it. */
export const PUBLIC_URL = 'https://logs.example.com';
const { session, login } = SECURE_COOKIES;

/** Cookies that a sibling host can set: any name but `__Host-`, before or after those of the service. */
export async function createTossingKind(url: string): Promise<Kind> {
  const [own, tossed] = [await signIn(url), await signIn(url)];
  const port = new URL(url).port;
  const shapes = Object.fromEntries(
    namesOf(port).flatMap((name) => [
      [`${JSON.stringify(name)} alone`, `${name}=${tossed}`],
      [`${JSON.stringify(name)} before another`, `${name}=${tossed}; theme=dark`],
      [`${JSON.stringify(name)} after another`, `theme=dark; ${name}=${tossed}`],
    ]),
  );
  const twice = {
    'the own name a second time, first': `${session.name}=${tossed}; ${session.name}=${own}`,
    'the own name a second time, last': `${session.name}=${own}; ${session.name}=${tossed}`,
    'the own name a second time, without a space': `${session.name}=${tossed};${session.name}=${own}`,
    'in the value of another': `a=${session.name}=${tossed}`,
    'in the quotes of another': `a="; b=${session.name}=${tossed}"`,
    'after a comma': `a=b, ${session.name}=${tossed}`,
    'after a version': `$Version=1, ${session.name}=${tossed}`,
  };
  return {
    name: 'a cookie of a sibling host',
    attacks: createAttacks({ ...shapes, ...twice }, (cookie) => isIn(url, cookie)),
    control: () => isIn(url, `theme=dark; ${session.name}=${tossed}`),
  };
}

/** As a sibling can write them in its header `Set-Cookie`, whose bytes browsers keep. */
function namesOf(port: string): string[] {
  const ends = ['tailrace', `tailrace-${port}`, 'tailrace-443', 'tailrace-80', 'tailrace-0', 'TAILRACE'];
  const prefixes = [
    '',
    '__Secure-',
    '__host-',
    '__HOST-',
    '__Host_',
    '_Host-',
    '__Host-Http-',
    '__Http-',
    '__Host--',
    '__Host-__Host-',
  ];
  const spaces = ['\u00a0', '\u0085', '\u00a0\u00a0', 'Â\u00a0', 'â\u0080\u0080', 'ï»¿', '\u00ad'];
  return [
    ...prefixes
      .flatMap((prefix) => ends.map((end) => `${prefix}${end}`))
      .filter((name) => name !== session.name),
    ...spaces.flatMap((space) => [`${space}${session.name}`, `${session.name}${space}`]),
    ...[
      login.name,
      `${session.name}-`,
      `${session.name}.`,
      `${session.name}[]`,
      `%5F%5FHost-tailrace`,
      `"${session.name}"`,
      `$${session.name}`,
    ],
  ];
}

/** Opens a session in a browser. @returns the value of the cookie */
async function signIn(url: string): Promise<string> {
  const headers = { 'x-api-key': PRIVATE_KEY, origin: PUBLIC_URL, 'x-tailrace-console': '1' };
  const response = await fetch(`${url}/auth/key`, { method: 'POST', headers });
  return new RegExp(`^${session.name}=([^;]+); `).exec(response.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
}

function isIn(url: string, cookie: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    get(`${url}/api/me`, { headers: { cookie }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).once('error', reject);
  });
}
