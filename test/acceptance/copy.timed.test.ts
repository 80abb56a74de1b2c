import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { type CliProcess, endLeftProcesses, runCli, startCli } from '../support/cli.ts';
import { toNdjson } from '../support/events.ts';
import { temporaryFolder } from '../support/service.ts';

// The embedded stores are opened by the command in a process of its own; here is the engine behind the server.
const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'), 'main');
const proxy = await startFaultyProxy(front.port);
afterAll(async () => {
  await proxy.close();
  await front.close();
  await folder.remove();
});
afterEach(async () => {
  proxy.fault = { kind: 'none' };
  await endLeftProcesses();
});

// Each test starts the command several times.
vi.setConfig({ testTimeout: 120_000 });

const DAY_MS = 86_400_000;
const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
const dayOf = (daysAgo: number) => new Date(NOON - (daysAgo - 1) * DAY_MS).toISOString().slice(0, 10);
const EDGE = 'cloudflare.logs.prod';

interface Event {
  readonly id: string;
  readonly timestamp: string;
  readonly project: string;
  readonly event_message: string;
  readonly metadata: object;
}

/** An event of noon, a second before `after` seconds have passed, so many days ago. */
function event(id: string, { daysAgo = 1, second = 0, message = 'x', metadata = {} as object } = {}): Event {
  const timestamp = new Date(NOON - (daysAgo - 1) * DAY_MS + second * 1000).toISOString();
  const project = `p${second % 3}`;
  const request = { method: 'GET', path: `/rest/v1/${id}` };
  return { id, timestamp, project, event_message: message, metadata: { request, ...metadata } };
}

const many = (count: number, daysAgo: number) =>
  Array.from({ length: count }, (_, i) => event(`d${daysAgo}-${i}`, { daysAgo, second: i % 900 }));

const HARD = [
  event('tab\tnewline\nbackslash\\N', { message: 'a\tb\nc\\d\\N\u0000\u001f"\'' }),
  event('\\N', { message: '\\N', metadata: { request: null } }),
  event('ünïcödé 🜂', { message: '🜂\ufeff', metadata: { 'a.b': { n: 1e300, big: 1, empty: {}, none: [] } } }),
  event('empty', { message: '', metadata: { request: { method: '' } } }),
  // Ties, up to rows that nothing tells apart.
  ...Array.from({ length: 25 }, () => event('twin', { second: 3 })),
  ...Array.from({ length: 25 }, (_, i) => event('tie', { second: 3, message: `m${i}` })),
];
const INVOCATIONS = Array.from({ length: 200 }, (_, i) => ({
  id: `f${i}`,
  timestamp: new Date(NOON - (i % 3) * DAY_MS).toISOString(),
  event_message: 'ran',
  metadata: {
    project_ref: 'p0',
    function_id: `fn${i % 4}`,
    execution_time_ms: i % 7 === 0 ? 'slow' : i * 1.25,
    response: { status_code: i % 5 === 0 ? 500 : 200 },
  },
}));

let stores = 0;
let dataDir = '';
// The only one that the engine behind the server gives rights to.
const DATABASE = 'tailrace';
beforeEach(async () => {
  stores++;
  dataDir = join(folder.path, `data${stores}`);
  const made = await ask(`SELECT name FROM system.tables WHERE database = '${DATABASE}'`, 'system');
  for (const table of made.split('\n').filter(Boolean)) await ask(`DROP TABLE \`${table}\``);
});

// Most tests are about the edge source alone: with the others beside it each command would take twice as long.
const small = {
  TAILRACE_SOURCES_DIR: join(folder.path, 'sources'),
  TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
};
const WHOLE = { TAILRACE_SOURCES_DIR: 'sources', TAILRACE_ENDPOINTS_DIR: 'endpoints' };
for (const path of [`sources/${EDGE}.yaml`, 'endpoints/usage.api-counts'])
  await cp(path, join(folder.path, path), { recursive: true });
const env = (more: Readonly<Record<string, string>> = {}) => ({
  ...small,
  TAILRACE_DATA_DIR: dataDir,
  ...more,
});
const to = (url = front.url) => `${url}/${DATABASE}`;
const copyArgs = (...more: string[]) => ['copy', '--to', to(), '--chunk-rows', '20', ...more];

/** A store with events of two days, loaded once: most tests copy it. */
const BASE = [...many(30, 2), ...many(400, 1)];
beforeAll(async () => {
  dataDir = join(folder.path, 'base');
  await load(BASE);
});
const useBase = () => cp(join(folder.path, 'base'), dataDir, { recursive: true });

async function load(events: readonly object[], source = EDGE, definitions = {}): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const file = join(folder.path, `events-${stores}.ndjson`);
  await writeFile(file, toNdjson(events));
  expect(await runCli(['load', source, file], { env: env(definitions) })).toMatchObject(DONE);
}

async function ask(sql: string, database = DATABASE): Promise<string> {
  const address = `${front.url}/?database=${database}&default_format=TSVRaw`;
  const response = await fetch(address, { method: 'POST', body: sql });
  expect(response.status, sql).toBe(200);
  return (await response.text()).trim();
}

/** The rows of the edge source at the server, against the events that were loaded: each as often as there. */
async function expectThere(events: readonly Event[], table = 'edge_logs'): Promise<void> {
  const text = await ask(
    `SELECT toJSONString(tuple(id, toUnixTimestamp64Milli(timestamp), project, event_message, metadata)) FROM ${table}`,
  );
  const found = text.split('\n').map((line) => JSON.stringify(Object.values(JSON.parse(line))));
  const expected = events.map((one) =>
    JSON.stringify([
      one.id,
      Date.parse(one.timestamp),
      one.project,
      one.event_message,
      JSON.stringify(one.metadata),
    ]),
  );
  expect(found.sort()).toEqual(expected.sort());
}

const DONE = { code: 0 };
const inserts = () => front.requests.filter(({ sql }) => sql.startsWith('INSERT INTO'));

/** Waits until so many more chunks were sent, or the command has ended without. */
async function insertsSince(before: number, count: number, { child }: CliProcess): Promise<void> {
  while (inserts().length < before + count && child.exitCode === null) await wait(5);
}

test('every event arrives as it is, and the three endpoints answer the same, byte for byte', async () => {
  const events = [...HARD, ...many(60, 2)];
  await load(events, EDGE, WHOLE);
  await load(INVOCATIONS, 'deno-relay-logs', WHOLE);
  const result = await runCli(copyArgs(), {
    env: env({ ...WHOLE, CLICKHOUSE_URL: 'http://elsewhere.example.com' }),
  });
  expect(result).toMatchObject(DONE);
  expect(result.stderr).toContain('CLICKHOUSE_URL is ignored');
  expect(result.stdout).toMatch(/cloudflare\.logs\.prod │ 2 +│ 114 /);
  expect(result.stdout).toContain(`314 rows are at ${to()}, counted and compared`);
  await expectThere(events);
  const questions = [
    ['logs.all', '-p', 'project=p0', '-p', 'project_tier=PRO'],
    ['functions.invocation-stats', '-p', 'project=p0', '-p', 'interval=7day'],
    ['usage.api-counts', '-p', 'project=p', '-p', 'interval=daily'],
  ];
  for (const question of questions) {
    const [here, there] = await Promise.all([
      runCli(['query', ...question], { env: env(WHOLE) }),
      runCli(['query', ...question], { env: env({ ...WHOLE, CLICKHOUSE_URL: to() }) }),
    ]);
    expect(here.stdout.length).toBeGreaterThan(50);
    expect(there).toEqual(here);
  }
});

test('a second run sends nothing, and compares again', async () => {
  await useBase();
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  const before = inserts().length;
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  expect(inserts().length).toBe(before);
  await ask("ALTER TABLE edge_logs UPDATE event_message = 'y' WHERE id = 'd1-7' SETTINGS mutations_sync = 1");
  const other = await runCli(copyArgs(), { env: env() });
  expect(other.code).toBe(1);
  expect(other.stderr).toContain(
    `${EDGE} ${dayOf(1)}: the target holds 400 rows, and some of them differ; to copy it again, delete it there first: ALTER TABLE \`edge_logs\` DROP PARTITION '${dayOf(1)}'`,
  );
  await ask(`ALTER TABLE edge_logs DROP PARTITION '${dayOf(1)}'`);
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  await expectThere(BASE);
});

test('killed at any moment and started again, it comes to the same events, none of them twice', async () => {
  await useBase();
  let kills = 0;
  for (; kills < 4; kills++) {
    const sent = inserts().length;
    const process = startCli(copyArgs(), { env: env(), stdin: '' });
    await insertsSince(sent, 1, process);
    await wait(Math.random() * 100);
    if (process.child.exitCode !== null) break;
    process.child.kill('SIGKILL');
    await process.ended;
  }
  expect(kills).toBeGreaterThan(1);
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  await expectThere(BASE);
  const perToken = Map.groupBy(inserts(), ({ settings }) => settings.get('insert_deduplication_token'));
  const bodies = [...perToken.values()].map(
    (all) => new Set(all.map(({ sql }) => sql.split('\n').sort().join('\n'))),
  );
  expect(bodies.every(({ size }) => size === 1)).toBe(true);
});

test('a chunk whose answer never came is found at the server, or known by its token', async () => {
  await useBase();
  for (const isLate of [false, true]) {
    const held = Promise.withResolvers<void>();
    let left = 2;
    front.intercept = async ({ sql }, response) => {
      if (!sql.startsWith('INSERT') || --left > 0) return false;
      front.intercept = undefined;
      // Stored, and nobody is told: at once, or only when the next run is under way.
      if (isLate) setTimeout(() => void fetch(`${front.url}${lastAddress()}`, lastBody()), 100);
      else await fetch(`${front.url}${lastAddress()}`, lastBody());
      held.resolve();
      response.destroy();
      return true;
    };
    const lastAddress = () => front.requests.findLast(({ sql }) => sql.startsWith('INSERT'))?.address;
    const lastBody = () => {
      const request = front.requests.findLast(({ sql }) => sql.startsWith('INSERT'));
      const encoding = request?.headers['content-encoding'];
      return {
        method: 'POST',
        body: new Uint8Array(request?.raw ?? []),
        headers: encoding === undefined ? {} : { 'content-encoding': encoding },
      };
    };
    const process = startCli(copyArgs(), { env: env(), stdin: '' });
    await Promise.race([held.promise, process.ended]);
    process.child.kill('SIGKILL');
    await process.ended;
  }
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  await expectThere(BASE);
});

test('a server that goes away ends it with what to do, and the same command goes on', async () => {
  await useBase();
  const args = ['copy', '--to', to(proxy.url), '--chunk-rows', '20'];
  const sent = inserts().length;
  const process = startCli(args, { env: env(), stdin: '' });
  await insertsSince(sent, 3, process);
  proxy.fault = { kind: 'refuse' };
  proxy.reset();
  const away = await process.ended;
  expect(away.code).toBe(3);
  expect(away.stderr).toMatch(
    /copying to http.*: the engine is not available.*run the same command again to continue/,
  );
  proxy.fault = { kind: 'none' };
  const again = startCli(args, { env: env(), stdin: '' });
  await insertsSince(inserts().length, 1, again);
  proxy.fault = { kind: 'cut', afterBytes: 0, times: 2 }; // answers get lost: rows are sent again, and stored once
  expect(await again.ended).toMatchObject(DONE);
  await expectThere(BASE);
});

test('Ctrl-C ends it with how far it came, and the same command goes on', async () => {
  await useBase();
  const sent = inserts().length;
  const process = startCli(copyArgs(), { env: env(), stdin: '' });
  await insertsSince(sent, 3, process);
  process.child.kill('SIGINT');
  const stopped = await process.ended;
  expect(stopped.code).toBe(3);
  expect(stopped.stderr).toMatch(
    /^tailrace: stopped by SIGINT at cloudflare\.logs\.prod .*: \d+ of 430 events are copied; run the same command again to continue\n$/m,
  );
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  await expectThere(BASE);
});

test('days with events of others are refused before anything is sent, and mixed when told to', async () => {
  await useBase();
  const file = join(folder.path, 'others.ndjson');
  const others = [event('other', { daysAgo: 2 }), event('d2-1', { daysAgo: 2, second: 1 })];
  await writeFile(file, toNdjson(others));
  expect(await runCli(['load', EDGE, file], { env: env({ CLICKHOUSE_URL: to() }) })).toMatchObject(DONE);
  const before = inserts().length;
  const refused = await runCli(copyArgs(), { env: env() });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toBe(
    `tailrace: ${EDGE} ${dayOf(2)}: the target has 2 rows that did not come from here, and 30 are here; --mix copies them nevertheless\n`,
  );
  expect(inserts().length).toBe(before);
  expect(await runCli(copyArgs('--from-day', dayOf(1)), { env: env() })).toMatchObject(DONE);
  expect(await runCli(copyArgs('--mix'), { env: env() })).toMatchObject(DONE);
  await expectThere([...BASE, ...others]);
});

test('a day that has got more events here since is not copied twice; taken away there, it is copied anew', async () => {
  await useBase();
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  const late = event('late');
  await load([late]);
  const refused = await runCli(copyArgs(), { env: env() });
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain(
    'it has 401 rows here now, and had 400 when it was copied; to copy it again',
  );
  await ask(`ALTER TABLE edge_logs DROP PARTITION '${dayOf(1)}'`);
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  await expectThere([...BASE, late]);
});

test('a day that has got more events at the server since stays as it is', async () => {
  await useBase();
  expect(await runCli(copyArgs(), { env: env() })).toMatchObject(DONE);
  const file = join(folder.path, 'later.ndjson');
  await writeFile(file, toNdjson([event('later')]));
  expect(await runCli(['load', EDGE, file], { env: env({ CLICKHOUSE_URL: to() }) })).toMatchObject(DONE);
  const again = await runCli(copyArgs(), { env: env() });
  expect(again).toMatchObject(DONE);
  expect(again.stderr).toContain('the server has received other events of it since');
  await expectThere([...BASE, event('later')]);
});

test('on a cluster events go through the table over all servers', async () => {
  await useBase();
  const cluster = env({ TAILRACE_CLUSTER: 'main' });
  expect(await runCli(copyArgs(), { env: cluster })).toMatchObject(DONE);
  await expectThere(BASE);
  await expectThere(BASE, 'edge_logs_local');
  expect(await runCli(copyArgs(), { env: cluster })).toMatchObject(DONE);
});

test('a dry run says what there is to do, and asks nobody', async () => {
  await useBase();
  const before = front.requests.length;
  const dry = await runCli(copyArgs('--dry-run', '--source', EDGE), { env: env() });
  expect(dry).toMatchObject(DONE);
  expect(dry.stdout).toMatch(new RegExp(`${EDGE} │ ${dayOf(1)} │ 400 +│ [\\d,]+ │ to copy`));
  expect(dry.stdout).toContain(`430 rows to ${to()}; no request was sent`);
  expect(front.requests.length).toBe(before);
});

test('events of a source whose file is gone are told to stay behind', async () => {
  await useBase();
  await load(INVOCATIONS, 'deno-relay-logs', WHOLE);
  const result = await runCli(copyArgs('--dry-run'), { env: env() });
  expect(result).toMatchObject(DONE);
  expect(result.stderr).toContain(
    'the events of table function_edge_logs are not copied: it no longer has a source\n',
  );
});

test('a folder without events, days in the wrong order and a server that is away are told, each once', async () => {
  const nowhere = await runCli(copyArgs(), { env: env() });
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${dataDir} has no events; set`),
  });
  expect(existsSync(dataDir)).toBe(false);
  await useBase();
  const days = await runCli(copyArgs('--from-day', dayOf(1), '--until-day', dayOf(2)), { env: env() });
  expect(days).toMatchObject({ code: 1, stderr: expect.stringContaining(' is before --from-day ') });
  const away = await runCli(['copy', '--to', 'https://127.0.0.1:1'], { env: env() });
  expect(away).toMatchObject({ code: 3 });
  expect(away.stderr.split('ECONNREFUSED')).toHaveLength(2); // told once
});

test('what cannot be meant is refused with what would be right, and no password is told', async () => {
  await mkdir(dataDir, { recursive: true });
  const wrong = await runCli(['copy', '--to', 'ftp://user:secret@x'], { env: env() });
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.stderr).toMatch(/^tailrace: --to: must begin with http/);
  expect(wrong.stderr).not.toContain('secret');
  expect(await runCli(copyArgs('--source', 'nobody'), { env: env() })).toMatchObject({ code: 1 });
  expect(await runCli(copyArgs('--from-day', '2026-02-30'), { env: env() })).toMatchObject({ code: 2 });
  expect(await runCli(copyArgs('--chunk-rows', '0'), { env: env() })).toMatchObject({ code: 2 });
  expect(await runCli(['copy'], { env: env() })).toMatchObject({ code: 2 });
  const journals = (await readdir(dataDir)).filter((name) => name.startsWith('copy-'));
  expect(journals.every((name) => /^copy-[0-9a-f]{16}\.sqlite$/.test(name))).toBe(true);
});
