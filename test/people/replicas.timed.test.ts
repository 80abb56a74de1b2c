import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../trial/postgres.ts';
import { createBrowserClient } from '../support/browser-client.ts';
import { sendPlain } from '../support/http.ts';
import { startPeople } from '../support/people.ts';
import { ownFolder, startTestService } from '../support/service.ts';

// Two replicas behind one address, which people know: each request may reach either of them.

let postgres: TestPostgres;
let front: Awaited<ReturnType<typeof startClickHouseFront>>;
const folder = await ownFolder();
let here: Awaited<ReturnType<typeof startPeople>>;
let there: Awaited<ReturnType<typeof startTestService>>;

type Browser = Pick<ReturnType<typeof createBrowserClient>, 'jarOf'>;
type Url = { readonly url: string };

/** Asks a replica with the cookies of a browser, as the load balancer passes them on. */
async function ask({ url }: Url, browser: Browser, path = '/api/me', method = 'GET') {
  const cookie = [...browser.jarOf(here.url)].map(([name, value]) => `${name}=${value}`).join('; ');
  // The header Host is that of the address which people know.
  const passed = { cookie, host: new URL(here.url).host, origin: here.url, 'x-tailrace-console': '1' };
  const { status, headers, body } = await sendPlain(url + path, { method, headers: passed, agent: false });
  const { location = '', 'set-cookie': cookies = [] } = headers;
  return { status, text: body.toString(), location, cookies };
}

const statusOf = async (at: Url, browser: Browser) => (await ask(at, browser)).status;
const meOf = async (at: Url, browser: Browser) =>
  JSON.parse((await ask(at, browser)).text) as Record<string, unknown>;

describe.skipIf(!hasPostgres)('two replicas with one control store', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    front = await startClickHouseFront(join(folder.path, 'clickhouse'));
    const env = {
      CLICKHOUSE_URL: front.url,
      TAILRACE_CONTROL_URL: await postgres.createDatabase(),
      TAILRACE_TOKEN_SECRET: 'of-all-replicas-0123456789abcdefghij',
    };
    here = await startPeople(env);
    const { publicUrl, oidcIssuer, oidcClient } = here.config;
    there = await startTestService({
      env: {
        ...env,
        TAILRACE_PUBLIC_URL: publicUrl,
        TAILRACE_OIDC_ISSUER: oidcIssuer,
        TAILRACE_OIDC_CLIENT: oidcClient,
        TAILRACE_ROLES_FILE: here.rolesFile,
      },
    });
  }, 240_000);
  afterAll(async () => {
    await there?.close();
    await here?.close();
    await front?.close();
    await postgres?.close();
  });

  test('a sign-in that was begun at one ends at the other, and only once', async () => {
    const browser = createBrowserClient();
    here.provider.state.as = 'bob';
    const back = await browser.follow(`${here.url}/auth/login?to=/explore`, (url) =>
      url.startsWith(`${here.url}/auth/callback`),
    );
    const path = back.slice(here.url.length);
    const ended = await ask(there, browser, path);
    expect([ended.status, ended.location]).toEqual([303, '/explore']);
    const again = await ask(here, browser, path);
    expect(again.location).toMatch(/^\/\?sign_in=(?:failed|expired)$/);
    for (const line of ended.cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      browser.jarOf(here.url).set(name, value);
    }
    for (const at of [here, there])
      expect(await meOf(at, browser)).toMatchObject({ name: 'Bob', role: 'support' });
  });

  test('a session that ends at one ends at the other within seconds', async () => {
    const [bob, other, ada] = [await here.signIn('bob'), await here.signIn('bob'), await here.signIn('ada')];
    for (const one of [bob, other]) expect(await statusOf(there, one)).toBe(200);
    await ask(here, bob, '/auth/logout', 'POST');
    const { session } = await meOf(here, other);
    await ask(here, ada, `/api/sessions/${String(session)}`, 'DELETE');
    for (const one of [bob, other]) await expect.poll(() => statusOf(there, one)).toBe(401);
  });
});
