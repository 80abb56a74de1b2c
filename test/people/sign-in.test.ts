import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { createBrowserClient } from '../support/browser-client.ts';
import { ROLES, startPeople } from '../support/people.ts';
import { PRIVATE_KEY } from '../support/service.ts';
import { openTail } from '../support/tail.ts';

const people = await startPeople();
afterAll(people.close);
const { accounts } = people.provider;
accounts.set('al', { name: 'Al', groups: ['platform'] });
accounts.set('cy', { name: 'Cy', groups: ['guests'] });
accounts.set('dee', { name: 'Dee', kind: 'customer', projects: ['aurora', 'borealis'] });
accounts.set('eve', { name: 'Eve', email: 'eve@partner.example', email_verified: true });
accounts.set('mal', { name: 'Mal', email: 'eve@partner.example', email_verified: false });

describe('a person', () => {
  test('signs in at the provider, comes back to the same place, and has the rights of the role', async () => {
    const browser = await people.signIn('ada', '/explore?q=level%3Aerror&range=6h');
    expect(browser.at).toBe(`${people.url}/explore?q=level%3Aerror&range=6h`);
    const { me } = await browser.me();
    expect(me).toMatchObject({
      ...{ kind: 'person', name: 'ada@example.com', role: 'platform', token: false, denied: null, pins: {} },
      ...{ scopes: ['query', 'ingest', 'manage'], sources: null, endpoints: null },
    });
    expect(me.id).toMatch(/^person:[0-9a-f]{24}$/);
  });

  test('has the lists of the first role that fits', async () => {
    const browser = await people.signIn('bob');
    const call = (endpoint: string) => browser.send(`${people.url}/api/endpoints/query/${endpoint}`);
    expect((await browser.me()).me).toMatchObject({ role: 'support', sources: ['cloudflare.logs.prod'] });
    expect((await call('usage.api-counts?project=aurora&interval=daily')).status).toBe(403);
    const allowed = await call('logs.all?project=aurora');
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('cache-control')).toMatch(/^private, no-(?:cache|store)$/);
    expect(allowed.headers.get('vary')).toContain('Cookie');
  });

  test('without a role learns that, and nothing else', async () => {
    const browser = await people.signIn('cy');
    const { status, me } = await browser.me();
    expect([status, me.scopes, me.endpoints, me.sources]).toEqual([200, [], [], []]);
    // What the person before has chosen in this tab.
    expect((await browser.send(`${people.url}/api/me?project=aurora`)).status).toBe(200);
    expect(me.denied).toMatch(/^Cy has no role here; ask/);
    for (const path of ['/api/endpoints', '/api/projects', '/api/sources', '/openapi.json', '/api/keys']) {
      const response = await browser.send(`${people.url}${path}`);
      expect([path, response.status]).toEqual([path, 403]);
      expect(await response.text()).toContain('has no role here');
    }
  });

  test('with several projects chooses one of them, and sees no other', async () => {
    const browser = await people.signIn('dee');
    const path = '/api/endpoints/query/usage.api-counts?interval=daily';
    const ask = async (query: string) => (await browser.send(`${people.url}${path}${query}`)).status;
    expect((await browser.me()).me).toMatchObject({
      pins: { project: 'aurora' },
      choices: { project: ['aurora', 'borealis'] },
    });
    const other = await browser.send(`${people.url}/api/me?project=borealis`);
    expect(await other.json()).toMatchObject({ pins: { project: 'borealis' } });
    const list = async (query: string) => (await browser.send(`${people.url}/api/endpoints?${query}`)).status;
    expect([await list('project=borealis'), await list('projct=borealis')]).toEqual([200, 400]);
    for (const own of ['&project=borealis', '']) expect(await ask(own)).toBe(200);
    for (const wrong of ['&project=other', '&project=aurora&project=borealis', '&project=aurora%00'])
      expect([wrong, await ask(wrong)]).toEqual([wrong, expect.toBeOneOf([400, 403])]);
  });

  test('with several projects sends events to the one that is chosen, and to no other', async () => {
    accounts.set('sam', { name: 'Sam', kind: 'sender', projects: ['aurora', 'borealis'] });
    const browser = await people.signIn('sam');
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ message: 'of Sam' });
    const send = async (query: string) =>
      (await browser.act('POST', `/api/logs?source=logs${query}`, { headers, body })).status;
    for (const own of ['', '&project=aurora', '&project=borealis'])
      expect([own, await send(own)]).toEqual([own, 200]);
    for (const wrong of ['&project=other', '&project=aurora&project=borealis'])
      expect([wrong, await send(wrong)]).toEqual([wrong, 403]);
  });

  test('with claims too long to be kept gets no session, and a page that says so', async () => {
    const groups = Array.from({ length: 10_000 }, (_, i) => `group-${i}`);
    accounts.set('lou', { name: 'Lou', groups });
    const browser = await people.signIn('lou');
    expect(browser.at).toBe(`${people.url}/?sign_in=claims`);
    expect((await browser.me()).status).toBe(401);
  });

  test('loses a role with the next sign-in after the group', async () => {
    accounts.set('gil', { name: 'Gil', groups: ['support'] });
    const before = await people.signIn('gil');
    accounts.set('gil', { name: 'Gil', groups: [] });
    expect((await before.me()).me.role).toBe('support');
    expect((await (await people.signIn('gil')).me()).me.role).toBeNull();
  });

  test('has an address only if the provider has verified it', async () => {
    const eve = { name: 'eve@partner.example', role: 'partner' };
    expect((await (await people.signIn('eve')).me()).me).toMatchObject(eve);
    const roles = `
claimed: { claims: { email: eve@partner.example }, scopes: [query] }
pinned: { claims: { name: Mal }, scopes: [query], pins: { project: "claim:email" } }`;
    const mal = await people.signIn('mal');
    expect((await mal.me()).me).toMatchObject({ name: 'Mal', role: null });
    try {
      await writeFile(people.rolesFile, roles);
      const denied = expect.stringContaining('the claim email of Mal');
      await expect.poll(async () => (await mal.me()).me).toMatchObject({ role: 'pinned', denied });
    } finally {
      await writeFile(people.rolesFile, ROLES);
    }
    await expect.poll(async () => (await mal.me()).me.role).toBeNull();
  });

  test('cannot be called by an agent, which learns that it needs a key', async () => {
    const browser = await people.signIn('ada');
    for (const headers of [
      {},
      { 'x-tailrace-console': '1' },
      { 'x-tailrace-console': '1', origin: people.url },
    ]) {
      const answer = await browser.send(`${people.url}/mcp`, { method: 'POST', headers });
      expect([answer.status, await answer.text()]).toEqual([
        403,
        expect.stringContaining('programs send a key'),
      ]);
    }
  });

  test('is named in the audit trail, and cannot sign a token, which would outlive the session', async () => {
    const browser = await people.signIn('ada');
    const { id } = (await browser.me()).me;
    const body = JSON.stringify({ name: 'of a person', scopes: ['query'] });
    const headers = { 'content-type': 'application/json' };
    expect((await browser.act('POST', '/api/keys', { body, headers })).status).toBe(201);
    const log = await browser.send(`${people.url}/api/keys/log?limit=5`);
    const { result } = (await log.json()) as { result: object[] };
    const by = { actor: `ada@example.com (${id})`, address: '127.0.0.1' };
    for (const action of ['created', 'signed_in'])
      expect(result).toContainEqual(expect.objectContaining({ ...by, action }));
    expect((await browser.act('POST', '/api/tokens')).status).toBe(403);
  });
});

describe('a session', () => {
  test('ends with the sign-out, here and at the provider, also for whoever has its cookie', async () => {
    const browser = await people.signIn('ada');
    const kept = new Map(browser.jarOf(people.url));
    const out = await browser.act('POST', '/auth/logout');
    const { to } = (await out.json()) as { to: string };
    expect(to).toContain(`${people.provider.issuer}/session/end?`);
    expect(out.headers.getSetCookie().join()).toMatch(/^tailrace-\d+=; .*Max-Age=0/);
    expect((await browser.me()).status).toBe(401);
    for (const [name, value] of kept) browser.jarOf(people.url).set(name, value);
    expect((await browser.me()).status).toBe(401);
  });

  test('is seen and ended by its person, and no other', async () => {
    const eve = await people.signIn('eve');
    const [one, other] = [await people.signIn('bob'), await people.signIn('bob')];
    const list = await other.send(`${people.url}/api/sessions`);
    const { result } = (await list.json()) as { result: { id: string; current: boolean }[] };
    expect(result.filter(({ current }) => current)).toHaveLength(1);
    const others = result.filter(({ current }) => !current);
    expect((await eve.act('DELETE', `/api/sessions/${others[0]?.id}`)).status).toBe(404);
    expect((await eve.send(`${people.url}/api/sessions?of=all`)).status).toBe(403);
    for (const { id } of others) expect((await other.act('DELETE', `/api/sessions/${id}`)).status).toBe(204);
    expect([(await one.me()).status, (await other.me()).status]).toEqual([401, 200]);
  });

  test('ends when it is not used, and at the latest after a day', async () => {
    const { clock } = people;
    const start = clock.now;
    const idle = await people.signIn('ada');
    clock.now += 480 * 60_000;
    expect((await idle.me()).status).toBe(401);
    const used = await people.signIn('ada');
    for (let hours = 0; hours < 23; hours++) {
      clock.now += 3_600_000;
      expect((await used.me()).status).toBe(200);
    }
    clock.now += 3_600_000;
    expect((await used.me()).status).toBe(401);
    clock.now = start;
  });

  test('is kept as a hash', async () => {
    const browser = await people.signIn('ada');
    const [cookie = ''] = [...browser.jarOf(people.url).values()];
    const database = new DatabaseSync(`${people.config.dataDir}/control.sqlite`, { readOnly: true });
    const rows = JSON.stringify(database.prepare('SELECT * FROM tailrace_sessions').all());
    database.close();
    expect(rows).toContain('ada@example.com');
    expect(rows).not.toContain(cookie.slice(16));
  });
});

const LOGS = '/api/endpoints/query/logs.all?project=aurora';

/** A live tail of somebody who has just signed in. */
async function follow(account: string) {
  const browser = await people.signIn(account);
  return { browser, tail: await openTail(people.url, LOGS, { cookie: browser.cookieOf(people.url) }) };
}

describe('a live tail', () => {
  const reasonOf = async ({ tail }: Awaited<ReturnType<typeof follow>>) => {
    const [last] = await tail.next(1);
    return [last?.event, last?.data['reason']];
  };

  test('ends with its session: by its person, and by an administrator', async () => {
    const tails = [await follow('bob'), await follow('bob')] as const;
    const ada = await people.signIn('ada');
    await tails[0].browser.act('POST', '/auth/logout');
    await ada.act('DELETE', `/api/sessions/${(await tails[1].browser.me()).me.session}`);
    for (const one of tails) expect(await reasonOf(one)).toEqual(['end', 'key_revoked']);
  });

  test('ends when the role of its person has other rights', async () => {
    const one = await follow('bob');
    await writeFile(people.rolesFile, ROLES.replace('endpoints: [logs.all]', 'pins: { project: aurora }'));
    expect(await reasonOf(one)).toEqual(['end', 'key_changed']);
    await writeFile(people.rolesFile, ROLES);
  });
});

test('a cached answer is that of all with the same rights, and no cache in between may keep it', async () => {
  const path = '/api/endpoints/query/usage.api-counts?project=aurora&interval=daily';
  const [ada, al] = [await people.signIn('ada'), await people.signIn('al')];
  const ask = async (browser: typeof ada, headers = {}) => {
    const response = await browser.send(people.url + path, { headers });
    await response.arrayBuffer();
    return response;
  };
  await ask(ada);
  for (const browser of [ada, al]) {
    const { headers } = await ask(browser);
    expect(headers.get('cache-status')).toMatch(/^Tailrace; hit/);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toContain('Cookie');
    expect((await ask(browser, { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);
  }
  await al.act('POST', '/auth/logout');
  expect((await ask(al)).status).toBe(401);
  expect((await ask(ada)).status).toBe(200);
});

test('the roles of running sessions change with the file; a broken file grants nothing, and says so', async () => {
  const browser = await people.signIn('bob');
  const me = async () => (await browser.me()).me;
  const scopes = 'groups: [support], scopes: [query';
  try {
    await writeFile(people.rolesFile, ROLES.replace(scopes, `${scopes}, metrics`));
    await expect.poll(async () => (await me()).scopes).toEqual(['query', 'metrics']);
    await writeFile(people.rolesFile, ROLES.replace('[support]', '[nobody]'));
    await expect.poll(async () => (await me()).role).toBeNull();
    await writeFile(people.rolesFile, ROLES.replace('[query]', '[qeury]'));
    await expect.poll(async () => (await me()).denied).toContain('the roles file is not valid');
    const ready = (await (await fetch(`${people.url}/ready`)).json()) as { roles?: string };
    expect(ready.roles).toContain('the roles file is not valid');
    const byKey = await fetch(`${people.url}/api/me`, { headers: { 'x-api-key': PRIVATE_KEY } });
    expect(byKey.status).toBe(200);
  } finally {
    await writeFile(people.rolesFile, ROLES);
  }
  await expect.poll(async () => (await me()).role).toBe('support');
});

test('the provider may be down: sessions go on, and sign-ins when it is back', async () => {
  const browser = await people.signIn('ada');
  await people.provider.stop();
  expect((await browser.me()).status).toBe(200);
  await people.provider.listen();
  expect((await (await people.signIn('ada')).me()).status).toBe(200);
});

describe('a key', () => {
  const signInWithKey = async (key: string, headers: Record<string, string> = {}) => {
    const browser = createBrowserClient();
    const response = await browser.send(`${people.url}/auth/key`, {
      method: 'POST',
      headers: { 'x-api-key': key, origin: people.url, 'x-tailrace-console': '1', ...headers },
    });
    return { browser, response };
  };

  test('opens a session, which ends with the key', async () => {
    const { key, id } = await people.service.keyring.create({ name: 'mine', scopes: ['query'] });
    const { browser, response } = await signInWithKey(key);
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie().join()).toMatch(/HttpOnly; SameSite=Lax$/);
    const self = async () => (await browser.send(`${people.url}/api/me`)).status;
    expect(await self()).toBe(200);
    await people.service.keyring.revoke(id);
    expect(await self()).toBe(401);
  });

  test('beside a cookie wins', async () => {
    const browser = await people.signIn('ada');
    const ask = (key: string) => browser.send(`${people.url}/api/me`, { headers: { 'x-api-key': key } });
    expect(await (await ask(PRIVATE_KEY)).json()).toMatchObject({ kind: 'key', id: 'private' });
    expect((await ask('no-such-key')).status).toBe(401);
  });

  test('opens no session for another page', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: '' }, { 'x-tailrace-console': '' }])
      expect((await signInWithKey(PRIVATE_KEY, headers)).response.status).toBe(403);
  });
});
