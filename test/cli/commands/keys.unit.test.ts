import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockStore } from '../../../src/engine/store-file.ts';
import { openSqliteStore, SQLITE_FILE } from '../../../src/keys/sqlite-store.ts';
import { type CliResult, expectExit } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data') };
const keys = (...args: string[]) => runProgram(['keys', ...args], env);

/** The one key of the store that has this id, read past the command. */
async function read(id: string) {
  const store = openSqliteStore(env.TAILRACE_DATA_DIR);
  try {
    return await store.readKey(id);
  } finally {
    await store.close();
  }
}

const idOf = ({ stderr }: CliResult) => /Key (\w+) /.exec(stderr)?.[1] ?? '';

/** Runs a command in a folder, in which services hold the locks of their stores. */
async function runBeside(
  runs: readonly ('dev' | 'serve')[],
  { path, args, own }: { path: string; args: readonly string[]; own: Record<string, string> },
) {
  const dirs = { dev: '.tailrace', serve: 'data' };
  const locks = runs.map((name) => lockStore(join(path, dirs[name]), `tailrace ${name} (pid 1)`));
  const before = process.cwd();
  process.chdir(path);
  try {
    return await runProgram(args, own);
  } finally {
    process.chdir(before);
    for (const { release } of locks) release();
  }
}

describe('the store of a command in a folder', () => {
  const named = { TAILRACE_DATA_DIR: 'named' };
  test.each<[runs: ('dev' | 'serve')[], env: Record<string, string>, dir: string, note: RegExp]>([
    [[], {}, 'data', /^tailrace: no service runs on \.\/data or \.tailrace; using data directory \.\/data$/m],
    [['dev'], {}, '.tailrace', /^Key/],
    [['serve'], {}, 'data', /^Key/],
    [
      ['serve', 'dev'],
      {},
      'data',
      /^tailrace: using the store of the settings \(\.\/data\), not that of "tailrace dev"$/m,
    ],
    [['dev'], named, 'named', /^Key/],
  ])('where %j runs, with %j, is in %s', async (runs, own, dir, note) => {
    const path = await mkdtemp(join(folder.path, 'cwd-'));
    const created = await runBeside(runs, { path, args: ['keys', 'create', '--name', 'x'], own });
    expectExit(created, 0, note, 'stderr');
    const dirs = ['data', '.tailrace', 'named'];
    expect(dirs.filter((one) => existsSync(join(path, one, SQLITE_FILE)))).toEqual([dir]);
  });

  test('is for "copy", too, that of the service there, wherever the settings send the events', async () => {
    const path = await mkdtemp(join(folder.path, 'cwd-'));
    const own = { CLICKHOUSE_URL: 'http://127.0.0.1:2' };
    const copied = await runBeside(['dev'], { path, args: ['copy', '--to', 'http://127.0.0.1:1'], own });
    expectExit(copied, 1, /^tailrace: data directory \.tailrace has no events/);
  });
});

describe('tailrace keys', () => {
  test('makes a key with all its limits, and tells it all', async () => {
    const made = await keys(
      ...['create', '--name', 'front', '--description', 'the dashboard', '--scope', 'query,ingest'],
      ...['--endpoint', 'logs.all', '--endpoint', 'usage.api-counts', '--source', 'postgres.logs'],
      ...'--pin project=a=b --pin project_tier=PRO --rate 20 --burst 40 --expires 90d'.split(' '),
    );
    expectExit(made, 0, /^tr_[\w-]+\n$/);
    const id = idOf(made);
    expect(await read(id)).toMatchObject({
      name: 'front',
      description: 'the dashboard',
      scopes: ['query', 'ingest'],
      endpoints: ['logs.all', 'usage.api-counts'],
      sources: ['postgres.logs'],
      pins: { project: 'a=b', project_tier: 'PRO' },
      rate: { perSecond: 20, burst: 40 },
    });

    const shown = (await keys('list')).stdout;
    for (const text of ['front', 'project="a=b"', 'active until', id]) expect(shown).toContain(text);
    expect((await keys('list', '--json')).stdout).not.toMatch(/hash|tr_/);
  });

  test.each([
    [
      ['create', '--name', 'x', '--endpoint', 'logs.al'],
      'endpoints has no logs.al; there are functions.invocation-stats',
    ],
    [['create', '--name', 'x', '--pin', 'projekt=a'], 'pins.projekt is not a parameter; there are project'],
    [['revoke', 'nobody'], 'no key of this id is in use'],
  ])('%j ends with 1 and says what would be right', async (args, message) => {
    const failed = await keys(...args);
    expect(failed).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('do not repeat a key that is given where an id should be', async () => {
    const key = `tr_0123456789ab_${'w'.repeat(43)}`;
    const { code, stdout, stderr } = await keys('revoke', key);
    expect([code, stdout + stderr]).toEqual([1, expect.not.stringContaining(key)]);
  });
});
