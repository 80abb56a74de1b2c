import { spawnSync } from 'node:child_process';
import { chmod, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { get } from '../support/http.ts';
import { EDGE } from '../support/ingest.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const folder = await ownFolder();
const endpoints = await copyEndpoints();
const dataDir = join(folder.path, 'data');
const env = { TAILRACE_DATA_DIR: dataDir, TAILRACE_ENDPOINTS_DIR: endpoints };
afterEach(endLeftProcesses);

test('commands reach the service of their data directory without a key, other users do not', async () => {
  const service = await startServe({ ...env, TAILRACE_PRIVATE_KEY: PRIVATE_KEY });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(args, { env, stdin: '{"id":"a","project":"gone"}' });
    return [code, stdout + stderr];
  };
  const file = join(dataDir, 'service.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  if (process.getuid?.() === 0) {
    await chmod(folder.path, 0o755);
    const read = `process.setuid(65534); require('node:fs').readFileSync(${JSON.stringify(file)})`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', read], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('EACCES')]);
  }
  expect(await run('load', EDGE, '-')).toEqual([0, expect.stringContaining('1 event,')]);
  const asked = ['query', 'logs.all', '-p', 'project=gone', '-p', 'project_tier=PRO'];
  expect(await run(...asked)).toEqual([0, expect.stringContaining('"id":"a"')]);
  expect(await run('delete', '--project', 'gone', '--yes')).toEqual([
    0,
    expect.stringContaining('1 event deleted'),
  ]);
  expect(await run(...asked)).toEqual([0, '{"result":[]}\n']);
  const { body } = await get(service.url, '/api/keys/log');
  expect(body.result).toContainEqual(expect.objectContaining({ action: 'deleted', actor: 'cli' }));

  expect(await run('backup', join(folder.path, 'elsewhere'))).toEqual([
    1,
    expect.stringContaining('elsewhere is not below TAILRACE_BACKUP_DIR of the service'),
  ]);
  expect(await run('reload')).toEqual([0, expect.stringContaining('definitions reloaded: ')]);
  service.child.kill('SIGHUP');
  await service.waitFor(/definitions reloaded[\s\S]*definitions reloaded/);
  await writeFile(join(endpoints, 'logs.all/query.sql'), 'SELECT nonsense');
  expect(await run('reload')).toEqual([
    1,
    expect.stringMatching(/logs\.all.*the old ones are still served/s),
  ]);
  await rm(endpoints, { recursive: true });

  expect(await run('stop')).toEqual([0, `the service (pid ${service.child.pid}) has ended\n`]);
  expect((await service.ended).code).toBe(0);
  expect(await run('stop')).toEqual([1, expect.stringContaining('no service runs')]);
});
