import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openCore } from '../../../src/service/open-core.ts';
import { addEndpoint } from '../../../trial/endpoint.ts';
import { expectExit } from '../../support/cli.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { faultsIn } from '../../support/faults.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder, testConfig } from '../../support/service.ts';

const folder = await ownFolder();
const definitions = await copyFewDefinitions(folder.path);
const dataDir = join(folder.path, 'data');
const env = { ...definitions, TAILRACE_DATA_DIR: dataDir };
const POSTGRES = join(definitions.TAILRACE_SOURCES_DIR, 'postgres.logs.yaml');
const original = await readFile('sources/postgres.logs.yaml', 'utf8');
await writeFile(POSTGRES, original);
const core = await openCore(testConfig(dataDir, env), 'a test'); // open all the while, as under a service
afterAll(() => core.close());
const check = (more: Record<string, string> = {}) => runProgram(['check'], { ...env, ...more });
beforeEach(() => writeFile(POSTGRES, original));

test('tailrace check beside a running service finds that a stored column cannot have another type, as the service does, beside other faults', async () => {
  const edited = original.replace('user_name: { type: keyword', 'user_name: { type: integer');
  expect(edited).not.toBe(original);
  await writeFile(POSTGRES, edited);
  const faults = await faultsIn(core.reload); // of the service itself
  expect(faults).toEqual([expect.stringContaining('column "user_name" of postgres.logs is stored')]);
  expect(await check()).toEqual({ code: 1, stdout: '', stderr: `tailrace: ${faults[0]}\n` });

  const sql = 'SELECT count() AS n FROM nowhere WHERE @project = 1';
  const id = 'a0000000-0000-4000-8000-000000000009';
  const endpoints = definitions.TAILRACE_ENDPOINTS_DIR;
  await addEndpoint(endpoints, { name: 'test.wrong', id, sql, caching: 'disabled' });
  const both = await check();
  await rm(join(endpoints, 'test.wrong'), { recursive: true });
  expectExit(both, 1, /nowhere[\s\S]*column "user_name"/);
});

test('tailrace check finds the faults of the receivers, and the alerts that name none of them', async () => {
  const alerts = join(folder.path, 'alerts');
  const receivers = join(folder.path, 'receivers');
  await cp('template/alerts', alerts, { recursive: true });
  const settings = {
    TAILRACE_DATA_DIR: join(folder.path, 'none'),
    TAILRACE_ENDPOINTS_DIR: 'template/endpoints',
    TAILRACE_SOURCES_DIR: 'template/sources',
    TAILRACE_ALERTS_DIR: alerts,
    TAILRACE_RECEIVERS_FILE: receivers,
  };
  await writeFile(receivers, 'other: { kind: slack, url: https://hooks.example.com/a }\n', { mode: 0o600 });
  expectExit(await check(settings), 1, /failing\.paths\.yaml:\d+: .* has no receiver "ops"; it has other\n/);
  await writeFile(receivers, 'ops: { kind: slack }\n');
  expect((await check(settings)).stderr).toContain(`${receivers}:1: "url" is missing`);
});
