import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { addressOf } from '../support/server-engine.ts';
import { temporaryFolder } from '../support/service.ts';

// Longer than any test lasts: what ends before has not ended by it.
const TIMEOUT_MS = 120_000;

const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
const proxy = await startFaultyProxy(front.port);
const reached: boolean[] = [];
const engine = await openServerEngine({
  readers: 2,
  queueMax: 10,
  queuePerLaneMax: 10,
  queueTimeoutMs: TIMEOUT_MS,
  limits: { timeoutMs: TIMEOUT_MS, memoryBytesMax: 256 * 1024 ** 2, resultBytesMax: 1024 ** 2 },
  address: addressOf(proxy.url),
  cluster: '',
  pingPauseMs: 100,
  onReach: (isUp) => reached.push(isUp),
});
await engine.command('CREATE TABLE rows (id Int64) ENGINE = MergeTree ORDER BY id');
afterEach(async () => {
  proxy.fault = { kind: 'none' };
  await expect.poll(() => engine.gauges().state, { timeout: 30_000 }).toBe('up');
  reached.length = 0;
});
afterAll(async () => {
  await engine.close();
  await proxy.close();
  await front.close();
  await folder.remove();
});

const ask = () => engine.query('SELECT 1', {}, { format: 'TSVRaw' });
const insert = () =>
  engine.insert({
    table: 'rows',
    columns: ['id'],
    format: 'JSONCompactEachRow',
    bytes: Buffer.from('[1]\n'),
  });
const AWAY = { code: 'engine_unavailable', message: 'the engine is not available', retryAfterSeconds: 1 };
const untilAway = () => expect.poll(() => engine.gauges().state, { timeout: 30_000 }).toBe('unreachable');

describe('a server that stops sending', () => {
  test('fails waiting and new requests at once, and is in use again when it answers', async () => {
    proxy.fault = { kind: 'silent' };
    const waiting = [ask(), ask(), ask(), insert()].map((work) => expect(work).rejects.toMatchObject(AWAY));
    await untilAway();
    await Promise.all(waiting);
    await expect(ask()).rejects.toMatchObject(AWAY);
    await expect(insert()).rejects.toMatchObject(AWAY);
    expect(reached).toEqual([false]);

    proxy.fault = { kind: 'none' };
    await expect.poll(() => engine.gauges().state, { timeout: 30_000 }).toBe('up');
    expect((await ask()).bytes.toString()).toBe('1\n');
    await insert();
    expect(reached).toEqual([false, true]);
    await expect
      .poll(() => engine.gauges(), { timeout: 30_000 })
      .toMatchObject({ state: 'up', running: 0, queued: 0 });
  });
});

describe('a server that refuses connections', () => {
  test('is unavailable until it accepts them', async () => {
    proxy.fault = { kind: 'refuse' };
    proxy.reset();
    await untilAway();
    await expect(ask()).rejects.toMatchObject(AWAY);
    proxy.fault = { kind: 'none' };
    await expect.poll(() => engine.gauges().state, { timeout: 30_000 }).toBe('up');
    expect((await ask()).bytes.toString()).toBe('1\n');
    expect(reached).toEqual([false, true]);
  });
});

test('one lost connection is no outage: running queries continue', async () => {
  const query = engine.query(
    'SELECT sleepEachRow(0.1) FROM numbers(10)',
    {},
    {
      format: 'TSVRaw',
    },
  );
  proxy.fault = { kind: 'cut', afterBytes: 0, times: 1 };
  expect((await query).bytes.toString()).toBe('0\n'.repeat(10));
  expect(reached).toEqual([]);
});
