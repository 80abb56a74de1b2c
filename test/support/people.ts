import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Me } from '../../src/management/view.ts';
import { createBrowserClient } from './browser-client.ts';
import { type Lie, startLyingProvider } from './lying-provider.ts';
import { CLIENT_ID, CLIENT_SECRET, freePort, startProvider } from './oidc.ts';
import { startTestService, temporaryFolder } from './service.ts';

export const ROLES = `
platform: { groups: [platform], scopes: [query, ingest, manage] }
support: { groups: [support], scopes: [query], sources: [cloudflare.logs.prod], endpoints: [logs.all] }
partner: { addresses: [eve@partner.example], scopes: [query], pins: { project: aurora } }
customer: { claims: { kind: customer }, scopes: [query], pins: { project: "claim:projects" } }
sender: { claims: { kind: sender }, scopes: [ingest], pins: { project: "claim:projects" } }
`;

/** A service with a file of roles, whose people sign in at a provider. @param start gets the address of the service */
async function startWithProvider<P extends { readonly issuer: string; stop(): Promise<void> }>(
  start: (url: string) => Promise<P>,
  env: Readonly<Record<string, string>> = {},
) {
  const folder = await temporaryFolder();
  const rolesFile = join(folder.path, 'roles.yaml');
  await writeFile(rolesFile, ROLES);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await start(url);
  const service = await startTestService({
    env: {
      TAILRACE_PORT: String(port),
      TAILRACE_PUBLIC_URL: url,
      TAILRACE_OIDC_ISSUER: provider.issuer,
      TAILRACE_OIDC_CLIENT: `${CLIENT_ID}:${CLIENT_SECRET}`,
      TAILRACE_ROLES_FILE: rolesFile,
      ...env,
    },
  });
  const close = async () => {
    await service.close();
    await provider.stop();
    await folder.remove();
  };
  return { ...service, url, provider, rolesFile, close };
}

/** A service whose people, ada and bob at first, sign in at a real provider, on a port that both know. */
export async function startPeople(env: Readonly<Record<string, string>> = {}) {
  const started = await startWithProvider((url) => startProvider(url), env);
  const { url, provider } = started;
  provider.accounts.set('ada', {
    ...{ name: 'Ada', groups: ['platform'] },
    ...{ email: 'ada@example.com', email_verified: true },
  });
  provider.accounts.set('bob', { name: 'Bob', groups: ['support'] });

  /** A browser in which this account has signed in. @returns also the URL at which it ended */
  async function signIn(account: string, to = '/api/me') {
    provider.state.as = account;
    const browser = createBrowserClient();
    const at = await browser.follow(`${url}/auth/login?to=${encodeURIComponent(to)}`);
    const me = async () => {
      const response = await browser.send(`${url}/api/me`);
      return { status: response.status, me: (await response.json()) as Me };
    };
    /** A request of the console's own pages. */
    const act = (method: string, path: string, init: RequestInit = {}) =>
      browser.send(`${url}${path}`, {
        ...init,
        method,
        headers: { origin: url, 'x-tailrace-console': '1', ...init.headers },
      });
    return { ...browser, at, me, act };
  }

  return { ...started, signIn };
}

/** A service whose provider lies. @param atStart lies while the service starts */
export async function startLyingPeople(atStart: Lie = {}) {
  const started = await startWithProvider(async () => {
    const provider = await startLyingProvider();
    provider.lie.now = atStart;
    return provider;
  });
  const { url, clock, provider } = started;
  type Browser = ReturnType<typeof createBrowserClient>;

  /** Begins a sign-in in a browser. @returns also the provider's page */
  async function begin(browser = createBrowserClient()) {
    clock.now += 60_000; // for the rate of sign-ins
    const response = await browser.send(`${url}/auth/login?to=/api/me`);
    return { browser, page: response.headers.get('location') ?? '' };
  }

  /** Sends a browser to the callback. @returns where it goes next, and whether it has a session */
  async function come(browser: Browser, back: string) {
    const response = await browser.send(back);
    const me = await browser.send(`${url}/api/me`);
    return { to: response.headers.get('location'), isIn: me.status === 200 };
  }

  /** Signs in while the provider lies. @param change of its response */
  async function signInWith(lie: Lie, change: Readonly<Record<string, string>> = {}) {
    provider.lie.now = lie;
    const { browser, page } = await begin();
    const outcome = await come(browser, provider.pass(page, change));
    provider.lie.now = {};
    return outcome;
  }

  return { ...started, begin, come, signInWith };
}
