import { spawnSync } from 'node:child_process';
import { chmod, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, expectExit, runCli, startServe } from '../support/cli.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { EDGE, get } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const folder = await ownFolder();
const endpoints = await copyEndpoints();
const dataDir = join(folder.path, 'data');
const env = { TAILRACE_DATA_DIR: dataDir, TAILRACE_ENDPOINTS_DIR: endpoints };
afterEach(endLeftProcesses);

test('commands reach the service of their data directory without a key, other users do not', async () => {
  const service = await startServe({ ...env, TAILRACE_PRIVATE_KEY: PRIVATE_KEY });
  const run = (...args: string[]) => runCli(args, { env, stdin: '{"id":"a","project":"gone"}' });
  const file = join(dataDir, 'service.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  if (process.getuid?.() === 0) {
    await chmod(folder.path, 0o755);
    const read = `process.setuid(65534); require('node:fs').readFileSync(${JSON.stringify(file)})`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', read], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('EACCES')]);
  }
  expectExit(await run('load', EDGE, '-'), 0, '1 event,');
  const asked = ['query', 'logs.all', '-p', 'project=gone', '-p', 'project_tier=PRO'];
  expectExit(await run(...asked), 0, '"id":"a"');
  expectExit(await run('delete', '--project', 'gone', '--yes'), 0, '1 event deleted');
  expect(await run(...asked)).toEqual({ code: 0, stdout: '{"result":[]}\n', stderr: '' });
  const { body } = await get(service.url, '/api/keys/log');
  expect(body.result).toContainEqual(expect.objectContaining({ action: 'deleted', actor: 'cli' }));

  const backup = await run('backup', join(folder.path, 'elsewhere'));
  expectExit(backup, 1, 'elsewhere is not below TAILRACE_BACKUP_DIR of the service');
  expectExit(await run('reload'), 0, 'definitions reloaded: ');
  service.child.kill('SIGHUP');
  await service.waitFor(/definitions reloaded[\s\S]*definitions reloaded/);
  await writeFile(join(endpoints, 'logs.all/query.sql'), 'SELECT nonsense');
  expectExit(await run('reload'), 1, /logs\.all.*the old ones are still served/s);
  await rm(endpoints, { recursive: true });

  const ended = `the service (pid ${service.child.pid}) has ended\n`;
  expect(await run('stop')).toEqual({ code: 0, stdout: ended, stderr: '' });
  expect((await service.ended).code).toBe(0);
  expectExit(await run('stop'), 1, 'no service runs');
});
