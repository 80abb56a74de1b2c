import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES, startPeople } from '../support/people.ts';
import { runProgram } from '../support/program.ts';
import { openTail } from '../support/tail.ts';

// What people who have signed in have open and cached.

let people: Awaited<ReturnType<typeof startPeople>>;
beforeAll(async () => {
  people = await startPeople();
  const { accounts } = people.provider;
  accounts.set('al', { name: 'Al', groups: ['platform'] });
});
afterAll(() => people.close());

const PATH = '/api/endpoints/query/logs.all?project=aurora';

/** A live tail of somebody who has just signed in. */
async function follow(account: string) {
  const browser = await people.signIn(account);
  return { browser, tail: await openTail(people.url, PATH, { cookie: browser.cookieOf(people.url) }) };
}

const runPeople = (...args: string[]) =>
  runProgram(['people', ...args], {
    TAILRACE_DATA_DIR: people.config.dataDir,
    TAILRACE_ROLES_FILE: people.rolesFile,
  });

describe('a live tail', () => {
  const reasonOf = async ({ tail }: Awaited<ReturnType<typeof follow>>) => {
    const [last] = await tail.next(1);
    return [last?.event, last?.data['reason']];
  };

  test('ends with its session: by its person, by an administrator, and by the command', async () => {
    const tails = [await follow('bob'), await follow('bob'), await follow('bob')] as const;
    const ada = await people.signIn('ada');
    await tails[0].browser.act('POST', '/auth/logout');
    await ada.act('DELETE', `/api/sessions/${(await tails[1].browser.me()).me.session}`);
    await runPeople('end', (await tails[2].browser.me()).me.session ?? '');
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

test('tailrace people ends sessions of a running service, by person, at once for all', async () => {
  await runPeople('end', '--all');
  const ada = await people.signIn('ada');
  const bobs = [await people.signIn('bob'), await people.signIn('bob')];
  const { stdout } = await runPeople('list');
  expect(stdout).toMatch(/ada@example\.com .* platform /);
  expect(stdout).toMatch(/Bob .* support .* 2 /);
  expect((await runPeople('end', 'Bob')).stdout).toBe('2 sessions ended.\n');
  const statusOf = async (browser: typeof ada) => (await browser.me()).status;
  for (const browser of bobs) await expect.poll(() => statusOf(browser)).toBe(401);
  expect(await statusOf(ada)).toBe(200);
  const trail = await ada.send(`${people.url}/api/keys/log`);
  expect(await trail.text()).toMatch(/"action":"ended"[^}]*"actor":"cli"[^}]*of Bob \(person:/);
});
