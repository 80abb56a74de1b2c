import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { InputError } from '../../../src/errors.ts';
import { openCore } from '../../../src/service/open-core.ts';
import { addEndpoint } from '../../../trial/endpoint.ts';
import { copyEndpoints } from '../../support/endpoints.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder, testConfig } from '../../support/service.ts';

const folder = await temporaryFolder();
const endpoints = await copyEndpoints();
const sourcesDir = join(folder.path, 'sources');
await cp('sources', sourcesDir, { recursive: true });
const dataDir = join(folder.path, 'data');
const env = {
  TAILRACE_DATA_DIR: dataDir,
  TAILRACE_SOURCES_DIR: sourcesDir,
  TAILRACE_ENDPOINTS_DIR: endpoints.path,
};
const core = await openCore(testConfig(dataDir, env), 'a test'); // open all the while, as under a service
afterAll(async () => {
  await core.close();
  await endpoints.remove();
  await folder.remove();
});
const check = (more: Record<string, string> = {}) => runProgram(['check'], { ...env, ...more });

const POSTGRES = join(sourcesDir, 'postgres.logs.yaml');
const original = await readFile(POSTGRES, 'utf8');
beforeEach(() => writeFile(POSTGRES, original));

/** The faults that the service itself finds. */
async function faultsOfReload(): Promise<readonly string[]> {
  const error = await core.reload().then(
    () => undefined,
    (reason: InputError) => reason,
  );
  return error?.faults ?? [];
}

const FORBIDDEN: [string, (text: string) => string][] = [
  ['another type', (text) => text.replace('user_name: { type: keyword', 'user_name: { type: integer')],
  [
    'another path',
    (text) =>
      text.replace(
        /user_name: \{ type: keyword, path: [^,]+/,
        'user_name: { type: keyword, path: metadata.other',
      ),
  ],
];

describe('tailrace check beside a running service', () => {
  test.each(FORBIDDEN)('finds that a stored column cannot have %s, as the service does', async (_, edit) => {
    expect(edit(original)).not.toBe(original);
    await writeFile(POSTGRES, edit(original));
    const faults = await faultsOfReload();
    expect(faults).toEqual([expect.stringContaining('column "user_name" of postgres.logs is stored')]);
    const { code, stdout, stderr } = await check();
    expect([code, stdout, stderr]).toEqual([1, '', `tailrace: ${faults[0]}\n`]);
  });

  test('prints it together with the faults of the files and of the settings', async () => {
    await writeFile(POSTGRES, FORBIDDEN[0]?.[1](original) ?? '');
    const sql = 'SELECT count() AS n FROM nowhere WHERE @project = 1';
    const id = 'a0000000-0000-4000-8000-000000000009';
    await addEndpoint(endpoints.path, { name: 'test.wrong', id, sql, caching: 'disabled' });
    const { code, stderr } = await check();
    await rm(join(endpoints.path, 'test.wrong'), { recursive: true });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/nowhere[\s\S]*column "user_name"/)]);
    await writeFile(POSTGRES, original);
    for (const setting of ['TAILRACE_OTLP_SOURCE', 'TAILRACE_DEPLOY_SOURCE']) {
      const unknown = await check({ [setting]: 'nobody.logs' });
      expect([unknown.code, unknown.stderr]).toEqual([
        1,
        expect.stringContaining(`${setting}: no source is called "nobody.logs"`),
      ]);
    }
  });

  test('says so where a store has no description, and nothing where there is no store', async () => {
    const file = join(dataDir, 'tables.json');
    const text = await readFile(file, 'utf8');
    await rm(file);
    const without = await check();
    expect([without.code, without.stderr]).toEqual([
      0,
      expect.stringContaining('which has no description yet'),
    ]);
    await writeFile(file, text.slice(0, -10));
    expect((await check()).stderr).toContain('which has no description yet');
    await core.reload();
    expect((await check()).stderr).toBe('');
    expect((await check({ TAILRACE_DATA_DIR: join(folder.path, 'none') })).stderr).toBe('');
  });
});

test('tailrace check finds the faults of the receivers, and the alerts that name none of them', async () => {
  const alerts = join(folder.path, 'alerts');
  const receivers = join(folder.path, 'receivers');
  await cp('template/alerts', alerts, { recursive: true });
  const settings = {
    TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
    TAILRACE_ALERTS_DIR: alerts,
    TAILRACE_RECEIVERS_FILE: receivers,
  };
  await writeFile(receivers, 'other: { kind: slack, url: https://hooks.example.com/a }\n', { mode: 0o600 });
  const unknown = await check(settings);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(
      /failing\.paths\.yaml:\d+: TAILRACE_RECEIVERS_FILE has no receiver "ops"; it has other\n/,
    ),
  ]);
  await writeFile(receivers, 'ops: { kind: slack }\n');
  expect((await check(settings)).stderr).toContain(`${receivers}:1: "url" is missing`);
  await writeFile(receivers, 'ops: { kind: slack, url: https://hooks.example.com/a }\n');
  expect(await check(settings)).toMatchObject({ code: 0, stderr: '' });
  const without = await check({ ...settings, TAILRACE_RECEIVERS_FILE: '' });
  expect([without.code, without.stderr]).toEqual([
    0,
    'warning: alerts call nobody: TAILRACE_RECEIVERS_FILE is not set\n',
  ]);
});
