import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect, test } from 'vitest';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const dataDir = join(folder.path, 'data');
const env = {
  TAILRACE_DATA_DIR: dataDir,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
};
afterEach(endLeftProcesses);
afterAll(folder.remove);

test.skipIf(ON_SERVER)('only the user of a service reaches the socket in its data directory', async () => {
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

/** Connects to the socket of a data directory with the rights of another user. */
async function reachAs(uid: number, dir: string): Promise<{ code: number | null; stderr: string }> {
  await chmod(folder.path, 0o755);
  const script = `process.setuid(${uid}); require('node:net').connect(${JSON.stringify(join(dir, 'local/service.sock'))}, () => process.exit(0))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, stderr };
}
