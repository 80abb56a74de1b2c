import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { type CliProcess, endLeftProcesses, runCli, startCli } from '../support/cli.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { EDGE } from '../support/ingest.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
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

const EVENTS = 430;
const definitions = await copyFewDefinitions(folder.path);
const base = join(folder.path, 'base');
const loaded = { env: { ...definitions, TAILRACE_DATA_DIR: base }, stdin: toNdjson(edgeEvents(EVENTS)) };
expect(await runCli(['load', EDGE, '-'], loaded)).toMatchObject({ code: 0 });

let stores = 0;
let env: Record<string, string> = {};
beforeEach(async () => {
  env = { ...definitions, TAILRACE_DATA_DIR: join(folder.path, `data${++stores}`) };
  await cp(base, env['TAILRACE_DATA_DIR'] ?? '', { recursive: true });
  const made = await ask("SELECT count() FROM system.tables WHERE database = 'tailrace'", 'system');
  if (made !== '0') await ask('DROP TABLE edge_logs');
});

const args = (url = front.url) => ['copy', '--to', `${url}/tailrace`, '--chunk-rows', '20'];
const inserts = () => front.requests.filter(({ sql }) => sql.startsWith('INSERT INTO'));

/** Waits until so many more chunks were sent, or the command has ended without. */
async function untilSent(count: number, { child }: CliProcess): Promise<void> {
  const before = inserts().length;
  while (inserts().length < before + count && child.exitCode === null) await wait(5);
}

async function ask(sql: string, database = 'tailrace'): Promise<string> {
  const response = await fetch(`${front.url}/?database=${database}`, { method: 'POST', body: sql });
  expect(response.status, sql).toBe(200);
  return (await response.text()).trim();
}
const expectAllOnce = async () =>
  expect(await ask('SELECT count(), uniqExact(id) FROM edge_logs')).toBe(`${EVENTS}\t${EVENTS}`);

test('killed at any moment and started again, it copies every event once', async () => {
  let kills = 0;
  for (; kills < 4; kills++) {
    const copy = startCli(args(), { env, stdin: '' });
    await untilSent(1, copy);
    await wait(Math.random() * 100);
    if (copy.child.exitCode !== null) break;
    copy.child.kill('SIGKILL');
    await copy.ended;
  }
  expect(kills).toBeGreaterThan(1);
  expect(await runCli(args(), { env })).toMatchObject({ code: 0 });
  await expectAllOnce();
  const perToken = Map.groupBy(inserts(), ({ settings }) => settings.get('insert_deduplication_token'));
  for (const all of perToken.values())
    expect(new Set(all.map(({ sql }) => sql.split('\n').sort().join('\n'))).size).toBe(1);
});

test('a server that becomes unavailable ends it with what to do, and the same command continues', async () => {
  const copy = startCli(args(proxy.url), { env, stdin: '' });
  await untilSent(3, copy);
  proxy.fault = { kind: 'refuse' };
  proxy.reset();
  const { code, stderr } = await copy.ended;
  expect([code, stderr]).toEqual([3, expect.stringMatching(/run the same command again to continue/)]);
  proxy.fault = { kind: 'none' };
  const again = startCli(args(proxy.url), { env, stdin: '' });
  await untilSent(1, again);
  proxy.fault = { kind: 'cut', afterBytes: 0, times: 2 }; // responses get lost: rows are sent again, and stored once
  expect(await again.ended).toMatchObject({ code: 0 });
  await expectAllOnce();
});

test('Ctrl-C ends it with how far it came, and the same command continues', async () => {
  const copy = startCli(args(), { env, stdin: '' });
  await untilSent(3, copy);
  copy.child.kill('SIGINT');
  const { code, stderr } = await copy.ended;
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(/stopped by SIGINT at .* of 430 events are copied/),
  ]);
  expect(await runCli(args(), { env })).toMatchObject({ code: 0 });
  await expectAllOnce();
});
