import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { expectExit } from '../../support/cli.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { ownFront } from '../../support/front.ts';
import { EDGE } from '../../support/http.ts';
import { runProgram } from '../../support/program.ts';
import { askStore, ownFolder, storeFor } from '../../support/service.ts';

const folder = await ownFolder();
const front = await ownFront();
// The only one that the engine behind the server grants rights to.
const TARGET = `${front.url}/tailrace`;
const DAY_MS = 86_400_000;
// The events lie at noon of past days, whatever the time is.
const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
const dayOf = (daysAgo: number) => new Date(NOON - (daysAgo - 1) * DAY_MS).toISOString().slice(0, 10);

function event(id: string, { daysAgo = 1, second = 0, message = 'x', metadata = {} as object } = {}) {
  const timestamp = new Date(NOON - (daysAgo - 1) * DAY_MS + second * 1000).toISOString();
  const own = { request: { method: 'GET', path: `/rest/v1/${id}` }, ...metadata };
  return { id, timestamp, project: `p${second % 3}`, event_message: message, metadata: own };
}

const EVENTS = [
  event('tab\tnewline\nbackslash\\N', { message: 'a\tb\nc\\d\\N\u0000\u001f"\'' }),
  event('\\N', { message: '\\N', metadata: { request: null } }),
  event('ünïcödé 🜂', { message: '🜂\ufeff', metadata: { 'a.b': { n: 1e300, big: 1, empty: {}, none: [] } } }),
  event('empty', { message: '', metadata: { request: { method: '' } } }),
  // Ties, up to rows that nothing distinguishes.
  ...Array.from({ length: 25 }, () => event('twin', { second: 3 })),
  ...Array.from({ length: 25 }, (_, i) => event('tie', { second: 3, message: `m${i}` })),
  ...Array.from({ length: 60 }, (_, i) => event(`d2-${i}`, { daysAgo: 2, second: i })),
];
const INVOCATIONS = Array.from({ length: 200 }, (_, i) => ({
  id: `f${i}`,
  timestamp: new Date(NOON - (i % 3) * DAY_MS).toISOString(),
  event_message: 'ran',
  metadata: {
    ...{ project_ref: 'p0', function_id: `fn${i % 4}`, execution_time_ms: i % 7 === 0 ? 'slow' : i * 1.25 },
    response: { status_code: i % 5 === 0 ? 500 : 200 },
  },
}));

const few = await copyFewDefinitions(folder.path);
let stores = 0;
let env: Record<string, string> = {};
beforeEach(async () => {
  // Fewer sources: each command takes half the time.
  env = { ...few, TAILRACE_DATA_DIR: join(folder.path, `data${++stores}`) };
  const made = await ask("SELECT name FROM system.tables WHERE database = 'tailrace'", 'system');
  for (const table of made.split('\n').filter(Boolean)) await ask(`DROP TABLE \`${table}\``);
});

const copy = () => runProgram(['copy', '--to', TARGET], env);
const inserts = () => front.requests.filter(({ sql }) => sql.startsWith('INSERT INTO')).length;

const load = (events: readonly object[], { source = EDGE, to = env } = {}) => storeFor(to, source, events);

async function ask(sql: string, database = 'tailrace'): Promise<string> {
  const address = `${front.url}/?database=${database}&default_format=TSVRaw`;
  const response = await fetch(address, { method: 'POST', body: sql });
  expect(response.status, sql).toBe(200);
  return (await response.text()).trim();
}

/** Expects that the server has these events, each as often as here. */
async function expectThere(events: readonly ReturnType<typeof event>[]): Promise<void> {
  const text = await ask(
    'SELECT toJSONString(tuple(id, toUnixTimestamp64Milli(timestamp), project, event_message, metadata)) FROM edge_logs',
  );
  const found = text.split('\n').map((line) => JSON.stringify(Object.values(JSON.parse(line))));
  const expected = events.map(({ id, timestamp, project, event_message, metadata }) =>
    JSON.stringify([id, Date.parse(timestamp), project, event_message, JSON.stringify(metadata)]),
  );
  expect(found.sort()).toEqual(expected.sort());
}

test('every event arrives as it is, and the three endpoints return the same, byte for byte', async () => {
  env = { TAILRACE_DATA_DIR: env['TAILRACE_DATA_DIR'] ?? '' }; // with the shipped definitions
  await load(EVENTS);
  await load(INVOCATIONS, { source: 'deno-relay-logs' });
  expectExit(await copy(), 0, `All events are at ${TARGET}, counted and compared`);
  await expectThere(EVENTS);
  for (const [name, parameters] of [
    ['logs.all', { project: 'p0', project_tier: 'PRO' }],
    ['functions.invocation-stats', { project: 'p0', interval: '7day' }],
    ['usage.api-counts', { project: 'p', interval: 'daily' }],
  ] as const) {
    const here = await askStore(env, name, parameters);
    expect(here.length).toBeGreaterThan(50);
    expect(await askStore({ ...env, CLICKHOUSE_URL: TARGET }, name, parameters)).toBe(here);
  }
});

test('a second run sends nothing, and a day that differs is copied again only after it was dropped there', async () => {
  await load(EVENTS);
  expect((await copy()).code).toBe(0);
  const before = inserts();
  expect((await copy()).code).toBe(0);
  expect(inserts()).toBe(before);
  await ask("ALTER TABLE edge_logs UPDATE event_message = 'y' WHERE id = 'd2-7' SETTINGS mutations_sync = 1");
  const differs = await copy();
  const drop = `ALTER TABLE \`edge_logs\` DROP PARTITION '${dayOf(2)}'`;
  expectExit(differs, 1, `60 where 60 are here; to copy the day again, delete it there: ${drop}`);
  expect(inserts()).toBe(before);
  await ask(drop);
  expect((await copy()).code).toBe(0);
  await expectThere(EVENTS);
});

test('goes on after a failure, and stores no event twice although a response was lost', async () => {
  await load(EVENTS);
  let count = 0;
  front.intercept = async ({ sql, raw, address, headers }, response) => {
    if (!sql.startsWith('INSERT INTO') || ++count > 1) return false;
    front.intercept = undefined;
    const sent = { method: 'POST', body: new Uint8Array(raw), headers: headersOf(headers) };
    expect((await fetch(front.url + address, sent)).status).toBe(200);
    response.destroy();
    return true;
  };
  expect((await copy()).code).toBe(0);
  expect(count).toBe(1);
  front.intercept = ({ sql }, response) => {
    if (!sql.startsWith('INSERT INTO')) return false;
    response.writeHead(500).end();
    return true;
  };
  const late = event('late', { daysAgo: 3 });
  await load([late]);
  const failed = await copy();
  front.intercept = undefined;
  expectExit(failed, 3, 'run the same command again');
  expect((await copy()).code).toBe(0);
  await expectThere([...EVENTS, late]);
});

test('a day with events of others is rejected before any of it is sent', async () => {
  await load(EVENTS);
  const others = [event('other', { daysAgo: 2 })];
  await load(others, { to: { ...env, CLICKHOUSE_URL: TARGET } });
  expectExit(await copy(), 1, `${EDGE} ${dayOf(2)}: the server has other events: 1 where 60 are here`);
  await expectThere([...EVENTS.filter(({ id }) => !id.startsWith('d2-')), ...others]);
});

/** Those that a request can be sent again with. */
function headersOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const own = Object.entries(headers).filter(
    ([name]) => !/^(?:host|connection|content-length|transfer-encoding)$/.test(name),
  );
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}
