import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findOwner } from '../../src/engine/store-lock.ts';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const endpoints = await copyEndpoints();
const dataDir = join(folder.path, 'data');
const env = {
  TAILRACE_DATA_DIR: dataDir,
  TAILRACE_ENDPOINTS_DIR: endpoints.path,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
};
afterEach(endLeftProcesses);
afterAll(async () => {
  await folder.remove();
  await endpoints.remove();
});

const EXTRA = { name: 'extra', id: 'a0000000-0000-4000-8000-000000000031', caching: 'disabled' } as const;

describe.skipIf(ON_SERVER)('on the data directory of a service', () => {
  test('reload prints that the definitions are served, or every fault and that the old ones are still served', async () => {
    const service = await startServe(env);
    await addEndpoint(endpoints.path, { ...EXTRA, sql: 'SELECT toInt64(1) AS n WHERE @project = @project' });
    expect(await runCli(['reload'], { env })).toEqual({
      code: 0,
      stdout: 'definitions reloaded: 5 endpoints and 12 sources served\n',
      stderr: '',
    });
    await addEndpoint(endpoints.path, { ...EXTRA, sql: 'SELECT nonsense WHERE @project = @project' });
    const refused = await runCli(['reload'], { env });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /^tailrace: \S+extra\/query\.sql:1: .*nonsense.*\ntailrace: definitions not reloaded: the old ones are still served\n$/,
    );
    await rm(join(endpoints.path, 'extra'), { recursive: true });
    expect((await runCli(['reload'], { env })).stdout).toContain('4 endpoints and 12 sources');
    expect((await service.stop()).code).toBe(0);
  });

  test('only its own user reaches its socket', async () => {
    const service = await startServe(env);
    const modes = await Promise.all(
      ['local', 'local/service.sock'].map(async (name) => (await lstat(join(dataDir, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o600]);
    if (process.getuid?.() === 0) {
      // As another user, who may enter all folders above it.
      const { code, stderr } = await reachAs(65_534, dataDir);
      expect([code, stderr]).toEqual([1, expect.stringContaining('EACCES')]);
    }
    expect((await service.stop()).code).toBe(0);
  });

  test('stop ends it in order and waits for the end', async () => {
    const service = await startServe(env);
    const { code, stdout, stderr } = await runCli(['stop'], { env });
    expect([code, stdout, stderr]).toEqual([0, `the service (pid ${service.child.pid}) has ended\n`, '']);
    expect((await service.ended).code).toBe(0);
    expect(findOwner(dataDir)).toBeUndefined();
  });
});

/** Connects to the socket of a data directory with the rights of another user. */
async function reachAs(uid: number, dir: string): Promise<{ code: number | null; stderr: string }> {
  await chmod(folder.path, 0o755);
  const script = `process.setuid(${uid}); require('node:net').connect(${JSON.stringify(join(dir, 'local/service.sock'))}, () => process.exit(0))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, stderr };
}
