import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const exec = promisify(execFile);
const CLI = join(import.meta.dirname, '../../bin/tailrace.js');
const LOGROTATE = findProgram('logrotate');
const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(endLeftProcesses);
vi.setConfig({ testTimeout: 120_000 });

/** A service that appends its log to `<name>.log`, as docs/operating.md starts it. */
async function startLogging(name: string) {
  const log = join(folder.path, `${name}.log`);
  const service = startProgram(
    '/bin/sh',
    ['-c', 'exec "$0" "$1" serve 2>>"$2"', process.execPath, CLI, log],
    {
      env: {
        TAILRACE_DATA_DIR: join(folder.path, name),
        TAILRACE_PORT: '0',
        TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
      },
    },
  );
  const [, url = ''] = await service.waitFor(/ready at (https?:\S+)\n/);
  let sent = 0;
  return {
    log,
    async ask(times: number): Promise<string[]> {
      const own = Array.from({ length: times }, () => `${name}-${sent++}`);
      for (const id of own) {
        const headers = { 'x-api-key': PRIVATE_KEY, 'x-request-id': id };
        await (await fetch(`${url}/api/endpoints/query/logs.all?project=p1`, { headers })).text();
      }
      return own;
    },
    stop: async () => {
      service.child.kill('SIGTERM');
      expect((await service.ended).code).toBe(0);
    },
  };
}

/** The request ids in a log, each line of which is an object of JSON. */
async function readIds(log: string): Promise<string[]> {
  const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => {
    const { reqId: id } = JSON.parse(line) as { reqId?: string };
    return id === undefined ? [] : [id];
  });
}

test.skipIf(LOGROTATE === undefined)('logrotate rotates it by deploy/logrotate/tailrace', async () => {
  const service = await startLogging('rotated');
  const before = await service.ask(20);
  await vi.waitFor(async () => expect(await readIds(service.log)).toEqual(before), 10_000);
  const config = join(folder.path, 'logrotate.conf');
  const shipped = await readFile('deploy/logrotate/tailrace', 'utf8');
  await writeFile(config, shipped.replace('/var/log/tailrace/*.log', service.log), { mode: 0o644 });
  const rotate = () => exec(LOGROTATE ?? '', ['--force', '--state', `${config}.state`, config]);
  await rotate();
  const after = await service.ask(20);
  await vi.waitFor(async () => expect(await readIds(service.log)).toEqual(after), 10_000);
  expect(await readIds(`${service.log}.1`)).toEqual(before);
  await rotate();
  const last = await service.ask(5);
  await service.stop();
  expect(await readIds(service.log)).toEqual(last);
  const names = (await readdir(folder.path)).filter((name) => name.startsWith('rotated.log'));
  expect(names.toSorted()).toEqual(['rotated.log', 'rotated.log.1', 'rotated.log.2.gz']);
});
