import { pathsOf } from '../../../src/http/route.ts';
import { ROUTES } from '../../../src/http/routes/index.ts';
import { createAttacks, type Kind } from './kind.ts';
import { REDIRECTS } from './redirects.ts';
import { begin, type People } from './visit.ts';

type SignedIn = Awaited<ReturnType<People['signIn']>>;

/** Requests of pages of other origins, with the cookie of an administrator. */
export function createPageKind(people: People, browser: SignedIn): Kind {
  const { url } = people;
  const changing = ROUTES.filter(
    ({ method, scopes, handle }) => method !== 'GET' && scopes !== 'none' && handle !== undefined,
  );
  const shapes = changing.flatMap((route) =>
    pathsOf(route).flatMap((path) =>
      Object.entries(pagesOf(url)).map(([page, headers]) => ({ method: route.method, path, page, headers })),
    ),
  );
  const send = async (method: string, path: string, init: RequestInit) => {
    const response = await browser.send(`${url}${path.replaceAll(/:\w+|\*/g, 'x')}`, { ...init, method });
    await response.arrayBuffer();
    return response.status;
  };
  return {
    name: 'a request of a page of another origin',
    attacks: createAttacks(
      Object.fromEntries(shapes.map((shape) => [`${shape.method} ${shape.path} of ${shape.page}`, shape])),
      async ({ method, path, headers }) => (await send(method, path, { headers })) !== 403,
    ),
    async control() {
      const headers = { origin: url, 'x-tailrace-console': '1', 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'of the own page', scopes: ['query'] });
      return (await send('POST', '/api/keys', { headers, body })) === 201;
    },
  };
}

function pagesOf(url: string): Record<string, Record<string, string>> {
  const own = { 'x-tailrace-console': '1' };
  const { port } = new URL(url);
  return {
    'another host': { ...own, origin: 'https://evil.example' },
    'no origin': own,
    'an origin of null': { ...own, origin: 'null' },
    'the service, as a form sends it': { origin: url },
    'the service, with another header': { origin: url, 'x-tailrace-console': 'true' },
    'a sibling': { ...own, origin: url, 'sec-fetch-site': 'same-site' },
    'another site': { ...own, origin: url, 'sec-fetch-site': 'cross-site' },
    'a host that begins alike': { ...own, origin: `${url}.evil.example` },
    'another name of this machine': { ...own, origin: `http://localhost:${port}` },
    'another port': { ...own, origin: `http://127.0.0.1:${Number(port) - 1}` },
    'an extension': { ...own, origin: `chrome-extension://127.0.0.1:${port}` },
    'the service with a path': { ...own, origin: `${url}/` },
    'two origins': { ...own, origin: `${url}, https://evil.example` },
  };
}

/** Sign-ins that would end on a page of another host. */
export function createRedirectKind(people: People): Kind {
  const shapes = Object.fromEntries(
    REDIRECTS.flatMap((to) => [
      [`${JSON.stringify(to)} as it is`, encodeURIComponent(to)],
      [`${JSON.stringify(to)} after a right one`, `%2F&to=${encodeURIComponent(to)}`],
    ]),
  );
  return {
    name: 'an open redirect',
    attacks: createAttacks(shapes, async (to) => {
      people.clock.now += 2_000;
      const response = await fetch(`${people.url}/auth/login?to=${to}`, { redirect: 'manual' });
      await response.arrayBuffer();
      return response.status !== 400;
    }),
    control: async () => (await begin(people, await people.signIn('ada'))).startsWith(people.provider.issuer),
  };
}
