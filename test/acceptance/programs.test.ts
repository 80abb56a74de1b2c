// The five programs of the gate, each in its own process. What a process of its own is not needed for is tested in test/cli and
// test/http; what races a signal, a kill or a clock is in the .timed files beside this one.
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startProgram, startServe } from '../support/cli.ts';
import { getEngineProcess } from '../support/engine-process.ts';
import { edgeEvents } from '../support/events.ts';
import { get, post, QUERY_PATH, TO_EDGE } from '../support/http.ts';
import { ownFolder, PUBLIC_KEY } from '../support/service.ts';

const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0' };
afterEach(endLeftProcesses);

test('serve prints a key with which it stores an event and returns it, tells its engine process no key, query prints it, and it ends with 0', async () => {
  const service = await startServe({ ...env, TZ: 'Asia/Tokyo', TAILRACE_PUBLIC_KEY: PUBLIC_KEY, OTHER: 'x' });
  const [key = ''] = /tr_[\w-]+/.exec(service.output().stdout) ?? [];
  const sent = await post(service.url, TO_EDGE, edgeEvents(1), { 'x-api-key': key });
  expect(sent.status).toBe(200);
  expect((await stat(env.TAILRACE_DATA_DIR)).mode & 0o777).toBe(0o700);
  if (process.platform === 'linux') {
    const text = readFileSync(`/proc/${getEngineProcess(service.child.pid)}/environ`, 'utf8');
    const names = text.split('\0').map((line) => line.split('=', 1)[0]);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'TZ', 'UV_THREADPOOL_SIZE', 'JE_MALLOC_CONF']));
    expect(names.filter((name) => /TAILRACE|OTHER/.test(name ?? ''))).toEqual([]);
    const named = ['cmdline', 'comm'].map((name) =>
      readFileSync(`/proc/${service.child.pid}/${name}`, 'utf8'),
    );
    for (const one of [key, PUBLIC_KEY]) expect(named.join()).not.toContain(one);
  }
  const path = `${QUERY_PATH}/logs.all?project=p1`;
  const answer = await get(service.url, path, { 'x-api-key': key });
  expect(answer.body.result).toEqual([
    expect.objectContaining({ id: 'e0', event_message: 'GET /rest/v1/0' }),
  ]);
  expect((await get(service.url, path, { 'x-api-key': '' })).status).toBe(401);
  const query = await runCli(['query', 'logs.all', '-p', 'project=p1'], { env });
  expect([query.code, query.stderr, JSON.parse(query.stdout)]).toEqual([0, '', answer.body]);
  const { code, stderr } = await service.stop();
  expect([code, stderr]).toEqual([0, expect.not.stringContaining(key)]);
});

test('npm start serves the shipped endpoints and the console, prints calls that work as they stand, closes what others could read, and ends with 0', async () => {
  const own = { ...env, TAILRACE_DATA_DIR: join(folder.path, 'start') };
  await mkdir(own.TAILRACE_DATA_DIR);
  await chmod(own.TAILRACE_DATA_DIR, 0o755);
  const keys = join(own.TAILRACE_DATA_DIR, 'control.sqlite');
  await writeFile(keys, '', { mode: 0o644 }); // as a backup may have been put back
  // A store with events is not filled with the whole sample.
  expect(await runCli(['sample', '--rows', '1000'], { env: own })).toMatchObject({ code: 0 });
  const service = startProgram(process.execPath, ['scripts/start.js'], { env: own });
  const [, url = ''] = await service.waitFor(/ready at (http:\S+)\n[\s\S]*\n\n$/);
  const printed = [...service.output().stdout.matchAll(/^curl -s -H "X-API-KEY: (\S+)" "(\S+)"$/gm)];
  expect(printed).toHaveLength(3);
  for (const [, key = '', address = ''] of printed)
    expect((await get(address, '', { 'x-api-key': key })).body.result).toEqual(expect.any(Array));
  expect((await get(url, '/', { accept: 'text/html' })).text).toContain('<div id="root">');
  for (const path of [keys, `${keys}-wal`, ...['engine', 'store'].map((one) => join(keys, '..', one))])
    expect([path, (await stat(path)).mode & 0o077]).toEqual([path, 0]);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
});

test('check finds no fault in the shipped definitions', async () => {
  const { code, stdout, stderr } = await runCli(['check'], { env });
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/ endpoints, .*, no faults\n$/), '']);
});

test('test passes the tests of every shipped endpoint', async () => {
  const { code, stdout, stderr } = await runCli(['test'], { env });
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/\n\d+ tests passed\n$/), '']);
  for (const name of await readdir('endpoints')) expect(stdout).toContain(`endpoints/${name}/tests/`);
});
