import { execFile } from 'node:child_process';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const exec = promisify(execFile);
const folder = await ownFolder();
const endpoints = join(folder.path, 'endpoints');
const sources = join(folder.path, 'sources');
const env = {
  TAILRACE_DATA_DIR: join(folder.path, 'data'),
  TAILRACE_ENDPOINTS_DIR: endpoints,
  TAILRACE_SOURCES_DIR: sources,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_LOG_LEVEL: 'warn', // as under npm start
};
afterEach(endLeftProcesses);

const ENDPOINT = {
  name: 'watched',
  id: 'a0000000-0000-4000-8000-000000000021',
  caching: 'disabled',
} as const;
const sqlOf = (n: number) => `SELECT toInt64(${n}) AS n WHERE @project = @project`;
const query = join(endpoints, 'watched', 'query.sql');
let service: Awaited<ReturnType<typeof startServe>>;

beforeEach(async () => {
  await rm(endpoints, { recursive: true, force: true });
  await rm(sources, { recursive: true, force: true });
  await cp('sources', sources, { recursive: true });
  await addEndpoint(endpoints, { ...ENDPOINT, sql: sqlOf(0) });
  service = await startServe(env, ['--watch']);
});

/** Waits until the endpoint is served with this number. */
async function expectServed(n: number, name = 'watched'): Promise<void> {
  const ask = async () => (await get(service.url, `${QUERY_PATH}/${name}?project=p1`)).body;
  await vi.waitFor(async () => expect(await ask()).toEqual({ result: [{ n }] }), { timeout: 60_000 });
}

const sed = (n: number, file = query) => exec('sed', ['-i', `s/toInt64([0-9]*)/toInt64(${n})/`, file]);

/** A file beside it is written and renamed over it, as editors do. */
async function saveByRename(n: number): Promise<void> {
  await writeFile(join(folder.path, 'new.sql'), sqlOf(n));
  await rename(join(folder.path, 'new.sql'), query);
}

test('serve --watch sees every one of several atomic saves in a row, however they are done', async () => {
  let n = 0;
  for (const save of [sed, saveByRename, sed, sed, saveByRename, saveByRename]) {
    await save(++n);
    await expectServed(n);
  }
  await writeFile(query, sqlOf(++n));
  await expectServed(n);
});

test('serve --watch rejects the loss of a watched folder, and sees the one that takes its place', async () => {
  for (const n of [1, 2]) {
    await rename(endpoints, `${endpoints}.old`);
    await waitForLine(n, `tailrace: ${endpoints}:1: cannot be read as a folder`);
    await expectServed(10 * (n - 1)); // what was served goes on
    await rename(`${endpoints}.old`, endpoints);
    await sed(10 * n);
    await expectServed(10 * n);
  }
});

/** Waits until a line of standard error has begun so this often. */
async function waitForLine(times: number, start: string): Promise<void> {
  const found = () => {
    const lines = service.output().stderr.split('\n');
    return lines.filter((line) => line.startsWith(start)).length;
  };
  await vi.waitFor(() => expect(found()).toBeGreaterThanOrEqual(times), { timeout: 60_000 });
}
