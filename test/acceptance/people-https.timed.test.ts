import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { CLIENT_ID, CLIENT_SECRET, freePort, startProvider } from '../support/oidc.ts';
import { ROLES } from '../support/people.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

// Sign-ins over HTTPS in a real browser, beside a host of the same site that belongs to an attacker.

const PAIRS = join(import.meta.dirname, '../../trial/tls');
const executablePath = findProgram('chromium');
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--host-resolver-rules=MAP *.example.test 127.0.0.1',
];
const COOKIE = '__Host-tailrace';
const KEY = { name: 'made by a page', scopes: ['query'] };

describe.skipIf(executablePath === undefined)('over HTTPS, in Chromium', () => {
  let browser: Browser;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let url: string;
  let sibling: Awaited<ReturnType<typeof startSibling>>;
  const closings: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closings.toReversed()) await close();
    await endLeftProcesses();
  });

  beforeAll(async () => {
    const folder = await temporaryFolder();
    closings.push(folder.remove);
    const rolesFile = join(folder.path, 'roles.yaml');
    await writeFile(rolesFile, ROLES);
    const port = await freePort();
    url = `https://logs.example.test:${port}`;
    provider = await startProvider(url);
    closings.push(provider.stop);
    provider.accounts.set('ada', { name: 'Ada', groups: ['platform'] });
    provider.accounts.set('mal', { name: 'Mal', groups: ['support'] });
    const service = await startServe({
      TAILRACE_DATA_DIR: join(folder.path, 'data'),
      TAILRACE_PORT: String(port),
      TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
      TAILRACE_TLS_CERT_FILE: join(PAIRS, 'one.cert.pem'),
      TAILRACE_TLS_KEY_FILE: join(PAIRS, 'one.key.pem'),
      TAILRACE_PUBLIC_URL: url,
      TAILRACE_OIDC_ISSUER: provider.issuer,
      TAILRACE_OIDC_CLIENT_ID: CLIENT_ID,
      TAILRACE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      TAILRACE_ROLES_FILE: rolesFile,
    });
    closings.push(service.stop);
    sibling = await startSibling();
    closings.push(sibling.close);
    browser = await chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: FLAGS });
    closings.push(() => browser.close());
  });

  const open = () => browser.newContext({ ignoreHTTPSErrors: true, bypassCSP: true }); // nobody has signed the certificate

  /** @returns who has signed in there, as the page at the end says */
  async function signIn(context: BrowserContext, account: string): Promise<unknown> {
    provider.state.as = account;
    const page = await context.newPage();
    await page.goto(`${url}/auth/login?to=/api/me`);
    return (JSON.parse((await page.textContent('body')) ?? '') as { name?: string }).name;
  }

  /** A request of a page of the service. */
  async function act(context: BrowserContext, method: string, path: string, body?: object) {
    const page = await context.newPage();
    await page.goto(`${url}/health`);
    const sent = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await page.evaluate(
      async ({ where, init }) => {
        const headers = { 'x-tailrace-console': '1', 'content-type': 'application/json' };
        const response = await fetch(where, { ...init, headers });
        return { status: response.status, text: await response.text() };
      },
      { where: path, init: sent },
    );
    await page.close();
    return answer;
  }

  test('no cookie of a sibling host is that of a session', async () => {
    const attacker = await open();
    expect(await signIn(attacker, 'mal')).toBe('Mal');
    const secret = (await attacker.cookies(url))[0]?.value ?? '';
    const victim = await open();
    const page = await victim.newPage();
    sibling.tossed = secret;
    await page.goto(sibling.url);
    const names = (await victim.cookies(url)).map(({ name }) => name);
    expect(names).toContain('probe'); // it does set cookies for the service
    expect(names).not.toContain(COOKIE);
    expect((await act(victim, 'GET', '/api/me')).status).toBe(401);
    expect(await signIn(victim, 'ada')).toBe('Ada');
    expect(await act(victim, 'GET', '/api/me')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"Ada"'),
    });
    await Promise.all([attacker.close(), victim.close()]);
  });

  test('no page of a sibling host, to which the browser sends the cookie, changes or reads anything', async () => {
    const context = await open();
    await signIn(context, 'ada');
    const page = await context.newPage();
    await page.goto(sibling.url);
    const outcomes = await page.evaluate(
      async ([service, body = '']) => {
        const types = ['application/json', 'text/plain'];
        const attempts: [string, RequestInit][] = [
          ...types.map((type): [string, RequestInit] => [
            '/api/keys',
            { method: 'POST', mode: 'no-cors', body, headers: { 'content-type': type } },
          ]),
          ['/api/keys', { method: 'POST', body, headers: { 'x-tailrace-console': '1' } }],
          ['/auth/logout', { method: 'POST', mode: 'no-cors' }],
          ['/api/me', {}],
        ];
        return await Promise.all(
          attempts.map(([path, init]) =>
            fetch(`${service}${path}`, { ...init, credentials: 'include' }).then(
              async (response) => await response.text(),
              () => '',
            ),
          ),
        );
      },
      [url, JSON.stringify(KEY)],
    );
    expect(outcomes).toEqual(['', '', '', '', '']);
    expect(await act(context, 'GET', '/api/keys')).toMatchObject({ status: 200, text: '{"result":[]}' });
    // As the service's own page does.
    expect(await act(context, 'POST', '/api/keys', KEY)).toMatchObject({ status: 201 });
    await context.close();
  });
});

/** A host of the same site, which sets every cookie that it can for the host of the service. */
async function startSibling() {
  const [cert, key] = await Promise.all(
    ['cert', 'key'].map((kind) => readFile(join(PAIRS, `two.${kind}.pem`))),
  );
  const state = { tossed: '' };
  const server = createServer({ cert, key }, (_, response) => {
    const names = [
      COOKIE,
      `\u00a0${COOKIE}`,
      COOKIE.toLowerCase(),
      '__Secure-tailrace',
      'tailrace-443',
      'probe',
    ];
    // Each once: the service accepts no cookie that comes twice.
    const cookies = [...names, `=${COOKIE}`].map(
      (name) => `${name}=${state.tossed}; Secure; Domain=example.test; Path=/`,
    );
    response.setHeader('set-cookie', cookies);
    response.setHeader('content-type', 'text/html').end('<p>sibling</p>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return Object.assign(state, {
    url: `https://other.example.test:${port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
