import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES, startPeople } from '../support/people.ts';
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
