import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const env = { TAILRACE_DATA_DIR: `${folder.path}/data` };
afterEach(endLeftProcesses);
afterAll(folder.remove);

const INVOCATION = {
  timestamp: new Date(Date.now() - 60_000).toISOString(),
  metadata: { project_ref: 'p1', function_id: 'f1', execution_time_ms: 12, response: { status_code: 500 } },
};

beforeAll(async () => {
  for (const [source, events] of [
    ['cloudflare.logs.prod', edgeEvents(3)],
    ['deno-relay-logs', [INVOCATION]],
  ] as const) {
    const loaded = await runCli(['load', source, '-'], { env, stdin: toNdjson(events) });
    expect([loaded.code, loaded.stderr]).toEqual([0, '']);
  }
});

test('from nothing to the three endpoints, with the key that serve printed; keys act while it runs', async () => {
  const service = await startServe(env);
  const { url } = service;
  const { stdout } = service.output();
  const [key = ''] = /tr_[\w-]+/.exec(stdout) ?? [];
  const asks = (given: string, path: string) => get(url, `${QUERY_PATH}/${path}`, { 'x-api-key': given });

  expect((await get(url, '/health', { 'x-api-key': '' })).status).toBe(200);
  expect((await get(url, '/ready', { 'x-api-key': '' })).status).toBe(200);
  expect((await asks(key, 'logs.all?project=p1')).body.result.map((row) => row['id'])).toEqual([
    'e2',
    'e1',
    'e0',
  ]);
  const usage = await asks(key, 'usage.api-counts?project=p1&interval=daily');
  const total = usage.body.result.reduce((sum, row) => sum + Number(row['total_rest_requests']), 0);
  expect(total).toBe(3);
  expect((await asks(key, 'functions.invocation-stats?project=p1')).body.result).toMatchObject([
    { count: 1, error_count: 1, min_execution_time: 12 },
  ]);

  // The printed calls work as they stand: each holds a whole URL and the key.
  const printed = [...stdout.matchAll(/^curl -s -H "X-API-KEY: (\S+)" "(\S+)"$/gm)];
  expect(printed).toHaveLength(3);
  for (const [, printedKey = '', address = ''] of printed)
    expect((await get(address, '', { 'x-api-key': printedKey })).status).toBe(200);

  const made = await runCli(['keys', 'create', '--name', 'reader'], { env });
  const reader = made.stdout.trim();
  expect([made.code, reader]).toEqual([0, expect.stringMatching(/^tr_[\w-]+$/)]);
  expect((await asks(reader, 'logs.all?project=p1')).status).toBe(200);
  expect((await asks(reader, '../../metrics')).status).not.toBe(200);

  const listed = await runCli(['keys', 'list'], { env });
  expect(listed.stdout).toMatch(/reader.*query.*active/);
  expect(listed.stdout).toContain('first key');
  expect(listed.stdout).not.toContain(reader);
  const [, id = ''] = /Key (\S+) with scope query/.exec(made.stderr) ?? [];
  expect((await runCli(['keys', 'revoke', id], { env })).code).toBe(0);
  expect((await asks(reader, 'logs.all?project=p1')).status).toBe(401);
  expect((await asks(key, 'logs.all?project=p1')).status).toBe(200);
  const again = await runCli(['keys', 'revoke', id], { env });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('no key of this id is in use')]);

  const load = await runCli(['load', 'cloudflare.logs.prod', '-'], { env, stdin: toNdjson(edgeEvents(0)) });
  // A server takes events from any number of processes.
  const isRefused =
    /^tailrace: data directory .* is in use by tailrace serve \(pid \d+\); stop that first.*\n$/;
  expect([load.code, load.stderr]).toEqual(ON_SERVER ? [0, ''] : [1, expect.stringMatching(isRefused)]);

  const { code, stderr } = await service.stop();
  expect(code).toBe(0);
  expect(stderr).not.toContain(key);
  expect(stderr).not.toContain(reader);
});

test('a second start makes no second key and shows none, but a command that creates one for the whole console', async () => {
  const service = await startServe(env);
  expect(service.output().stdout).not.toMatch(/tr_\w+/);
  expect(service.output().stdout).toContain('$TAILRACE_KEY');
  const [, command = ''] = /^ {2}npx tailrace (keys create .+)$/m.exec(service.output().stdout) ?? [];
  const key = (await runCli(command.split(' '), { env })).stdout.trim();
  for (const path of ['/api/overview', '/api/endpoints', '/api/sources', '/api/projects', '/api/keys/log']) {
    expect((await get(service.url, path, { 'x-api-key': key })).status, path).toBe(200);
  }
  expect((await service.stop('SIGINT')).code).toBe(0);
});

test('query answers from the shell, and refuses what HTTP refuses', async () => {
  const query = (...args: string[]) => runCli(['query', ...args], { env });
  const good = await query('logs.all', '-p', 'project=p1', '-p', 'project_tier=PRO');
  expect([good.code, good.stderr, JSON.parse(good.stdout).result.length]).toEqual([0, '', 3]);
  const table = await query('functions.invocation-stats', '-p', 'project=p1', '--table');
  expect(table.stdout).toMatch(/error_count[\s\S]*1 row\n$/);
  const bad = await query('usage.api-counts', '-p', 'project=p1', '-p', 'interval=yearly');
  expect([bad.code, bad.stdout, bad.stderr]).toEqual([
    1,
    '',
    'tailrace: interval must be one of hourly, minutely, daily, not "yearly"\n',
  ]);
  const unknown = await query('nothing.here');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('"nothing.here"')]);
});
