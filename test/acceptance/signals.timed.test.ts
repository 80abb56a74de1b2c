import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { readProcess } from '../../src/cli/process-info.ts';
import { findOwner } from '../../src/engine/store-lock.ts';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const cli = join(root, 'bin/tailrace.js');
const bundled = pathToFileURL(join(root, 'bin/bundled-node.js')).href;
const prepare = pathToFileURL(join(root, 'scripts/prepare.js')).href;
const folder = await temporaryFolder();
const left: number[] = [];
afterEach(async () => {
  for (const pid of left.splice(0)) if (readProcess(pid) !== undefined) process.kill(pid, 'SIGKILL');
  await endLeftProcesses();
});
afterAll(folder.remove);

/** A project that has tailrace installed, and scripts that start it as people do and as scripts/start.js does. */
beforeAll(async () => {
  await mkdir(join(folder.path, 'node_modules/.bin'), { recursive: true });
  await symlink(cli, join(folder.path, 'node_modules/.bin/tailrace'));
  const passOn = `import { run } from '${prepare}'; process.exitCode = await run('${process.execPath}', ['${cli}', 'serve']);`;
  await writeFile(join(folder.path, 'start.mjs'), passOn);
  // What bin/tailrace.js does on an old Node.
  const rerun = `import { rerunOn } from '${bundled}'; process.argv[1] = '${cli}'; rerunOn('${process.execPath}');`;
  await writeFile(join(folder.path, 'old.mjs'), rerun);
  const scripts = {
    start: 'node start.mjs',
    detached: 'setsid tailrace serve',
  };
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ name: 'x', private: true, scripts }));
});

/** Starts a service by another program and waits until it is ready. */
async function startBy(name: string, [command = '', ...args]: readonly string[]) {
  const dataDir = join(folder.path, name.replaceAll(/\W/g, '-'));
  const started = startProgram(command, args, {
    cwd: folder.path,
    env: {
      TAILRACE_DATA_DIR: dataDir,
      TAILRACE_PORT: '0',
      HOME: folder.path,
      npm_config_update_notifier: 'false',
    },
    stdin: '',
  });
  await started.waitFor(/ready at/);
  const pid = Number(/\d+/.exec(findOwner(dataDir) ?? '')?.[0]);
  expect(readProcess(pid)).toBeDefined();
  left.push(pid);
  return { ...started, dataDir, pid };
}

/** Waits until the service has ended in order: a killed one leaves its name behind. */
async function expectEnded({ pid, output }: Awaited<ReturnType<typeof startBy>>): Promise<void> {
  await vi.waitFor(() => expect(readProcess(pid)).toBeUndefined(), { timeout: 60_000 });
  expect(output().stderr).toContain('"msg":"stopping"');
}

const NPX = ['npx', 'tailrace', 'serve'];
const STARTS: [name: string, signal: NodeJS.Signals, command: string[]][] = [
  ['npx', 'SIGKILL', NPX],
  ['npm start', 'SIGHUP', ['npm', 'start']],
  ['an old Node', 'SIGTERM', ['node', 'old.mjs', 'serve']],
];

describe.skipIf(ON_SERVER)('a service that was started by', () => {
  test.each(STARTS)('%s ends in order when that gets %s', async (name, signal, command) => {
    const service = await startBy(`${name} ${signal}`, command);
    service.child.kill(signal);
    await expectEnded(service);
    expect(findOwner(service.dataDir)).toBeUndefined();
  });

  test.each([
    ['a shell that ends', ['sh', '-c', 'node_modules/.bin/tailrace serve; true']],
    ['npm, in a session of its own', ['npm', 'run', 'detached']],
  ])('%s goes on', async (name, command) => {
    const service = await startBy(name, command);
    service.child.kill('SIGKILL');
    await vi.waitFor(() => expect(readProcess(service.child.pid ?? 0)).toBeUndefined(), 10_000);
    // It has looked for its parents more than once after so many reloads.
    const reloads = () => service.output().stderr.match(/definitions reloaded/g)?.length ?? 0;
    for (let count = 1; count <= 6; count++) {
      process.kill(service.pid, 'SIGHUP');
      await vi.waitFor(() => expect(reloads()).toBe(count), { timeout: 60_000 });
    }
    expect(service.output().stderr).not.toContain('stopping');
    process.kill(service.pid, 'SIGTERM');
    await expectEnded(service);
  });
});
