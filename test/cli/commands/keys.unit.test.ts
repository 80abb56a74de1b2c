import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/keys/sqlite-store.ts';
import type { CliResult } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
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

describe('tailrace keys', () => {
  test('makes a key with all its limits, changes what is named, rotates, and tells it all', async () => {
    const made = await keys(
      ...['create', '--name', 'front', '--description', 'the dashboard', '--scope', 'query,ingest'],
      ...['--endpoint', 'logs.all', '--endpoint', 'usage.api-counts', '--source', 'postgres.logs'],
      ...[
        '--pin',
        'project=a=b',
        '--pin',
        'project_tier=PRO',
        '--rate',
        '20',
        '--burst',
        '40',
        '--expires',
        '90d',
      ],
    );
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^tr_[\w-]+\n$/)]);
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

    const changed = await keys(
      'update',
      id,
      '--pin',
      'project=abc',
      '--no-endpoint',
      '--burst',
      '50',
      '--no-expires',
    );
    expect([changed.code, changed.stdout]).toEqual([0, expect.stringContaining('project="abc"')]);
    expect(await read(id)).toMatchObject({
      endpoints: undefined,
      expiresMs: undefined,
      sources: ['postgres.logs'],
      pins: { project: 'abc' },
      rate: { perSecond: 20, burst: 50 },
    });

    const rotated = await keys('rotate', id, '--overlap', '1h');
    expect(rotated.stderr).toMatch(new RegExp(`^Key \\w+ succeeds ${id}\\. The old key is valid until 20`));
    expect((await read(idOf(rotated)))?.pins).toEqual({ project: 'abc' });
    const shown = (await keys('list')).stdout;
    for (const text of ['front', 'project="abc"', 'active until', 'successor', id])
      expect(shown).toContain(text);
    const { result } = JSON.parse((await keys('list', '--json')).stdout);
    expect(result).toMatchObject([
      { id: idOf(rotated), name: 'front', pins: { project: 'abc' }, successor: null },
      { id, name: 'front', rate: { per_second: 20, burst: 50 }, successor: idOf(rotated) },
    ]);
    expect(JSON.stringify(result)).not.toMatch(/hash|tr_/);

    const log = await keys('log');
    expect(log.stdout).toMatch(/rotated[\s\S]*changed[\s\S]*created/);
    expect(log.stdout).not.toContain(made.stdout.trim());
    expect((await keys('log', '--limit', '1')).stdout).not.toContain('created');
    const entries = JSON.parse((await keys('log', '--json', '--limit', '2')).stdout);
    expect(entries.result).toMatchObject([
      { action: 'rotated', key_id: id, actor: 'cli', count: 1 },
      { action: 'changed', key_id: id },
    ]);
    for (const table of [shown, log.stdout])
      expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test.each([
    [
      ['create', '--name', 'x', '--endpoint', 'logs.al'],
      'endpoints has no logs.al; there are functions.invocation-stats',
    ],
    [['create', '--name', 'x', '--pin', 'projekt=a'], 'pins.projekt is not a parameter; there are project'],
    [['create', '--name', 'x', '--pin', 'interval=hourly'], '7day for functions.invocation-stats\n'],
    [['create', '--name', 'x', '--burst', '5'], '--burst needs --rate'],
    [['rotate', 'nobody'], 'no key of this id is in use'],
  ])('%j ends with 1 and says what would be right', async (args, message) => {
    const { code, stdout, stderr } = await keys(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
  });

  test.each([
    [['create', '--name', 'x', '--pin', 'project'], 'It must be name=value.'],
    [
      ['create', '--name', 'x', '--pin', 'project=a', '--pin', 'project=b'],
      'It gives project a second value',
    ],
    [['create', '--name', 'x', '--rate', '0'], 'It must be a number above 0'],
  ])('%j is a misuse', async (args, message) => {
    const { code, stderr } = await keys(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
