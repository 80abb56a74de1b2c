import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ControlStore } from '../../../src/keys/control-store.ts';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import { expectExit } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data') };
const people = (...args: string[]) => runProgram(['people', ...args], env);

const ADA = { owner: 'person:a', name: 'ada@example.com', claims: {} };
const KEY = { owner: 'aaaaaaaaaaaa', name: 'aaaaaaaaaaaa', claims: undefined };

async function withStore<T>(work: (store: ControlStore) => Promise<T>): Promise<T> {
  const store = openSqliteStore(env.TAILRACE_DATA_DIR);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

beforeAll(() =>
  withStore(async ({ sessions }) => {
    const createdMs = Date.parse('2026-11-20T07:00:00Z');
    for (const [i, owner] of [ADA, ADA, ADA, KEY].entries())
      await sessions.add({
        ...{ ...owner, id: String(i).repeat(12), hash: 'x', print: '', login: '', createdMs },
        ...{ seenMs: createdMs, expiresMs: createdMs + 86_400_000, address: '10.0.0.9', agent: 'Browser' },
      });
  }),
);

describe('tailrace people', () => {
  test('lists sessions, and ends one, or those of a person, each in the audit trail', async () => {
    const { stdout } = await people('list');
    expect(stdout).toMatch(/000000000000 +ada@example\.com +person:a +2026-11-20 07:00/);
    expect((await people('end', '0'.repeat(12))).stdout).toBe('1 session ended.\n');
    expect((await people('end', 'person:a')).stdout).toBe('2 sessions ended.\n');
    expect((await people('list')).stdout).not.toContain('ada');
    expect((await people('end', KEY.owner)).stdout).toBe('1 session ended.\n');
    expect((await people('list')).stdout).toBe('Nobody has signed in.\n');
    const entries = await withStore((store) => store.listEntries({ limit: 10 }));
    expect(entries).toHaveLength(4);
    expect(entries.at(-1)).toMatchObject({
      ...{ action: 'ended', actor: 'cli', keyId: '' },
      detail: 'session 000000000000 of ada@example.com (person:a)',
    });
    expect(entries[0]).toMatchObject({ actor: 'cli', keyId: KEY.owner });
  });

  test.each([
    [['end', 'nobody'], 1, '"nobody"; "npx tailrace people list" shows the ids'],
    [['end'], 2, 'missing required argument'],
    [['show'], 2, 'unknown command'],
  ])('%j says what would be right', async (args, code, message) => {
    expectExit(await people(...args), code, message);
  });
});
