import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { SessionRecord } from '../../../src/keys/session-store.ts';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const rolesFile = join(folder.path, 'roles.yaml');
await writeFile(rolesFile, 'platform: { groups: [platform], scopes: [query] }\n');
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_ROLES_FILE: rolesFile };
const people = (...args: string[]) => runProgram(['people', ...args], env);

const ADA = { owner: 'person:a', name: 'ada@example.com', claims: { groups: ['platform'] } };
const BOB = { owner: 'person:b', name: 'Bob', claims: { groups: ['guests'] } };
const OTHER_BOB = { ...BOB, owner: 'person:c' };
const KEY = { owner: 'aaaaaaaaaaaa', name: 'front', claims: undefined };

let last = 0;
/** Stores sessions, each a minute newer than the one before. @returns their ids */
async function store(...owners: readonly Pick<SessionRecord, 'owner' | 'name' | 'claims'>[]) {
  const control = openSqliteStore(env.TAILRACE_DATA_DIR);
  await control.sessions.end('all');
  const ids = owners.map(() => (++last).toString(16).padStart(12, '0'));
  for (const [i, owner] of owners.entries()) {
    const createdMs = Date.parse('2026-11-20T07:00:00Z') + i * 60_000;
    const times = { createdMs, seenMs: createdMs, expiresMs: createdMs + 86_400_000 };
    const texts = { hash: 'x', print: '', login: '', address: '10.0.0.9', agent: 'Browser' };
    await control.sessions.add({ ...owner, ...texts, ...times, id: ids[i] ?? '' });
  }
  await control.close();
  return ids;
}

async function readTrail(): Promise<readonly (string | number)[][]> {
  const control = openSqliteStore(env.TAILRACE_DATA_DIR);
  const entries = await control.listEntries({ limit: 10 });
  await control.close();
  return entries.map(({ action, actor, keyId, detail }) => [action, actor, keyId, detail]);
}

const listed = async (...args: string[]) =>
  (JSON.parse((await people(...args, '--json')).stdout) as { result: Record<string, unknown>[] }).result;

describe('tailrace people', () => {
  test('lists people with their present role, and sessions of people and keys', async () => {
    const ids = await store(ADA, KEY, BOB, ADA);
    expect(await listed('list')).toEqual([
      {
        ...{ id: 'person:a', name: 'ada@example.com', role: 'platform', denied: null, sessions: 2 },
        seen_at: '2026-11-20T07:03:00.000Z',
      },
      {
        ...{ id: 'person:b', name: 'Bob', role: null, sessions: 1, seen_at: '2026-11-20T07:02:00.000Z' },
        denied: expect.stringContaining('has no role here'),
      },
    ]);
    expect((await people('list')).stdout).toMatch(/ada@example\.com │ person:a │ platform/);
    expect((await listed('sessions')).map(({ id }) => id)).toEqual(ids.toReversed());
    expect(await listed('sessions', 'front')).toMatchObject([
      { id: ids[1], kind: 'key', address: '10.0.0.9', agent: 'Browser' },
    ]);
  });

  test('ends a session by its id, those of a person or key, and all, each in the audit trail', async () => {
    const [first = ''] = await store(ADA, ADA, ADA, BOB, KEY);
    expect((await people('end', first)).stdout).toBe('1 session ended.\n');
    expect((await people('end', 'ada@example.com')).stdout).toBe('2 sessions ended.\n');
    expect((await people('end', KEY.owner)).stdout).toBe('1 session ended.\n');
    expect((await people('end', '--all')).stdout).toBe('1 session ended.\n');
    const trail = await readTrail();
    expect(trail[0]).toEqual(['ended', 'cli', '', expect.stringMatching(/of Bob \(person:b\)$/)]);
    expect(trail[1]).toEqual(['ended', 'cli', KEY.owner, expect.stringContaining(`the key ${KEY.owner}`)]);
    expect(trail).toHaveLength(5);
    expect((await people('end', '--all')).stdout).toBe('0 sessions ended.\n');
  });

  test('ends nothing if the name is of two people, of nobody, or missing', async () => {
    await store(BOB, OTHER_BOB);
    const refused = async (...args: string[]) => {
      const { code, stderr } = await people('end', ...args);
      return [code, stderr];
    };
    expect(await refused('Bob')).toEqual([1, expect.stringMatching(/2 people.*person:c, person:b/)]);
    expect(await refused('nobody')).toEqual([1, expect.stringContaining('"nobody"')]);
    for (const args of [[], ['Bob', '--all']])
      expect(await refused(...args)).toEqual([1, expect.stringContaining('--all')]);
    expect(await listed('sessions')).toHaveLength(2);
    expect((await people('end', 'person:c')).stdout).toBe('1 session ended.\n');
  });
});
