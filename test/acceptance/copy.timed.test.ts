import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { type CliProcess, endLeftProcesses, runCli, startCli } from '../support/cli.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { EDGE } from '../support/ingest.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
afterAll(async () => {
  await front.close();
  await folder.remove();
});
afterEach(endLeftProcesses);

const EVENTS = 430;
const definitions = await copyFewDefinitions(folder.path);
const env = { ...definitions, TAILRACE_DATA_DIR: join(folder.path, 'data') };
const loaded = { env, stdin: toNdjson(edgeEvents(EVENTS)) };
expect(await runCli(['load', EDGE, '-'], loaded)).toMatchObject({ code: 0 });

const ARGS = ['copy', '--to', `${front.url}/tailrace`, '--chunk-rows', '20'];
const inserts = () => front.requests.filter(({ sql }) => sql.startsWith('INSERT INTO'));

/** Waits until so many more chunks were sent, or the command has ended without. */
async function untilSent(count: number, { child }: CliProcess): Promise<void> {
  const before = inserts().length;
  while (inserts().length < before + count && child.exitCode === null) await wait(5);
}

test('killed at any moment and started again, it copies every event once', async () => {
  let kills = 0;
  for (; kills < 4; kills++) {
    const copy = startCli(ARGS, { env, stdin: '' });
    await untilSent(1, copy);
    await wait(Math.random() * 100);
    if (copy.child.exitCode !== null) break;
    copy.child.kill('SIGKILL');
    await copy.ended;
  }
  expect(kills).toBeGreaterThan(1);
  expect(await runCli(ARGS, { env })).toMatchObject({ code: 0 });
  const response = await fetch(`${front.url}/?database=tailrace`, {
    method: 'POST',
    body: 'SELECT count(), uniqExact(id) FROM edge_logs',
  });
  expect((await response.text()).trim()).toBe(`${EVENTS}\t${EVENTS}`);
  const perToken = Map.groupBy(inserts(), ({ settings }) => settings.get('insert_deduplication_token'));
  for (const all of perToken.values())
    expect(new Set(all.map(({ sql }) => sql.split('\n').sort().join('\n'))).size).toBe(1);
});
