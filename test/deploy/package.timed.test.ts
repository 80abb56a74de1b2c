import { execFile } from 'node:child_process';
import { globSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { findFreePort } from '../../trial/free-port.ts';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { makePackage } from '../support/package.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';
import { DOCKERFILE, readImage } from './dockerfile.ts';

const exec = promisify(execFile);
const folder = await temporaryFolder();
await chmod(folder.path, 0o755);
const { app, tarball, unlock } = await makePackage(folder.path);
afterAll(async () => {
  await endLeftProcesses();
  await unlock();
  await folder.remove();
});

const UID = 10_001;

/** The process alone in a namespace, as process 1, as in a container, where the kernel lets us; else just as it is. */
async function findWrapping(): Promise<{ command: string[]; isFirst: boolean }> {
  if (process.getuid?.() !== 0) return { command: [], isFirst: false };
  const user = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs'];
  const alone = ['unshare', '--pid', '--fork', '--kill-child=KILL'];
  const works = await exec(alone[0] ?? '', [...alone.slice(1), 'true']).then(
    () => true,
    () => false,
  );
  return { command: [...(works ? alone : []), ...user], isFirst: works };
}

/** Starts what the image starts, with its environment, but a data directory and a port of the test. */
async function startPackage() {
  const dataDir = join(folder.path, 'data');
  await mkdir(dataDir);
  if (process.getuid?.() === 0) await chown(dataDir, UID, UID);
  const { env, command: imageCommand } = readImage(DOCKERFILE);
  const [node, ...args] = imageCommand;
  expect(node).toBe('node');
  const port = await findFreePort();
  const own = { TAILRACE_HOST: '127.0.0.1', TAILRACE_PORT: String(port), TAILRACE_DATA_DIR: dataDir };
  const wrapping = await findWrapping();
  const [command = '', ...rest] = [...wrapping.command, process.execPath, ...args];
  const started = startProgram(command, rest, {
    cwd: app,
    env: { ...env, ...own, TAILRACE_PRIVATE_KEY: PRIVATE_KEY },
  });
  await started.waitFor(/ready at/);
  return { ...started, url: `http://127.0.0.1:${port}`, isFirst: wrapping.isFirst };
}

/** What `docker stop` does: SIGTERM to process 1, which is the child of `unshare` where there is one. */
async function terminate({ child, isFirst }: Awaited<ReturnType<typeof startPackage>>): Promise<void> {
  if (!isFirst) return void child.kill('SIGTERM');
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  process.kill(Number(children), 'SIGTERM');
}

test('the package has exactly the files that package.json lists, and the code of src/ compiled', async () => {
  const { files } = JSON.parse(await readFile('package.json', 'utf8')) as { files: string[] };
  const isBuilt = (path: string) => /^(?:console\/)?dist(?:\/|$)/.test(path);
  const listed = files.filter((file) => !isBuilt(file)).flatMap(listFiles);
  const packed = listFiles(app).map((path) => path.slice(app.length + 1));
  const own = packed.filter((path) => !path.startsWith('node_modules/'));
  const always = ['LICENSE', 'README.md', 'package.json'];
  expect(own.filter((path) => !isBuilt(path)).toSorted()).toEqual([...listed, ...always].toSorted());
  const compiled = listFiles('src').map((path) => path.replace(/^src(.*)\.ts$/, 'dist$1.js'));
  expect(own.filter((path) => path.startsWith('dist/')).toSorted()).toEqual(compiled.toSorted());
  expect(own).toContain('console/dist/index.html');
  const packages = await readdir(join(app, 'node_modules'));
  expect(packages).toContain('fastify');
  expect(packages.filter((name) => /^(?:typescript|tailrace-.*)$/.test(name))).toEqual([]);
});

/** The files that a path or pattern stands for, those of folders with hidden ones. */
function listFiles(path: string): string[] {
  const found = path.includes('*') ? globSync(path) : [path];
  return found.flatMap((one) =>
    statSync(one).isFile()
      ? [one]
      : readdirSync(one, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name)),
  );
}

test('the package can be published by anyone who may: with provenance, without addresses that are not known here', async () => {
  const fields = JSON.parse(await readFile(join(app, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(fields).toMatchObject({
    name: 'tailrace',
    license: 'Apache-2.0',
    publishConfig: { provenance: true },
  });
  for (const name of ['private', 'repository', 'homepage', 'bugs']) expect(fields).not.toHaveProperty(name);
});

test('docs/quickstart.md states its size, at most a third too much', async () => {
  const page = await readFile('docs/quickstart.md', 'utf8');
  const [, packed, unpacked] = /(\d+) MB, (\d+) MB unpacked/.exec(page) ?? [];
  const own = listFiles(app).filter((path) => !path.startsWith(join(app, 'node_modules')));
  const bytes = own.reduce((sum, path) => sum + statSync(path).size, 0);
  for (const [stated, real] of [
    [Number(packed), statSync(tarball).size / 1e6],
    [Number(unpacked), bytes / 1e6],
  ] as const) {
    expect(real).toBeLessThan(stated);
    expect(real).toBeGreaterThan((stated * 2) / 3);
  }
});

test('the packed service serves from files that it cannot change, under a number for a user, as process 1, and ends by SIGTERM', async () => {
  const service = await startPackage();
  const read = async (path: string) => {
    const response = await fetch(service.url + path, { headers: { 'x-api-key': PRIVATE_KEY } });
    return [response.status, await response.text()] as const;
  };
  expect(await read('/ready')).toEqual([200, '{"status":"ready"}']);
  expect((await read('/'))[1]).toContain('<!doctype html>');

  // Large enough to be read by the thread of bodies, which is a file of its own.
  const text = 'x'.repeat(1_000);
  const event = {
    project: 'p1',
    event_message: text,
    metadata: { request: { method: 'GET', path: '/rest' } },
  };
  const sent = await fetch(`${service.url}/api/logs?source_name=cloudflare.logs.prod`, {
    method: 'POST',
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: 100 }, () => event)),
  });
  expect([sent.status, await sent.json()]).toEqual([200, { message: 'Logged!' }]);
  const [status, rows] = await read('/api/endpoints/query/logs.all?project=p1');
  expect(status).toBe(200);
  expect(JSON.parse(rows).result).toHaveLength(100);

  await terminate(service);
  const { code, stderr } = await service.ended;
  expect(code, stderr).toBe(0);
});
