import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedEngine, type Suspect } from '../../src/engine/embedded/embedded.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineRestart } from '../../src/engine/process/supervisor.ts';
import { findEngineProcesses, getEngineProcess, untilGone } from '../support/engine-process.ts';
import { temporaryFolder } from '../support/service.ts';

const MIB = 1024 ** 2;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let engine: Engine;
let restarts: EngineRestart[];
let suspects: Suspect[];

beforeEach(async () => {
  folder = await temporaryFolder();
  restarts = [];
  suspects = [];
  engine = await open();
  await engine.command(
    'CREATE TABLE tailrace.rows (id Int64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100',
  );
});
afterEach(async () => {
  await engine.close();
  await folder.remove();
  expect(findEngineProcesses()).toEqual([]);
});

// Two starts of the engine's process take some seconds on a busy machine.
const open = (timeoutMs = 10_000, memoryBytesMax = 2_048 * MIB) =>
  openEmbeddedEngine({
    dataDir: folder.path,
    readers: 3,
    queueMax: 10,
    queuePerLaneMax: 10,
    queueTimeoutMs: 20_000,
    memoryBytesMax,
    limits: { timeoutMs, memoryBytesMax: 1024 * MIB, resultBytesMax: MIB },
    onRestart: (restart) => restarts.push(restart),
    onSuspect: (query) => suspects.push(query),
  });

async function ask(sql: string, options = {}): Promise<string> {
  return (await engine.query(sql, {}, { format: 'TSVRaw', ...options })).bytes.toString().trim();
}

const insert = (...ids: number[]) =>
  engine.insert({
    table: 'rows',
    columns: ['id'],
    format: 'JSONCompactEachRow',
    bytes: Buffer.from(ids.map((id) => `[${id}]\n`).join('')),
  });

async function untilRunning(count: number): Promise<void> {
  const sql =
    "SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'";
  const running = async () => Number((await engine.inspect(sql))[0]?.['n']);
  await expect.poll(running, { interval: 5 }).toBe(count);
}

const slow = (ms: number) => `SELECT sum(sleepEachRow(0.05)) FROM numbers(${ms / 50})`;
const settled = (work: Promise<string>) => work.catch((error: unknown) => error);

async function kill(): Promise<void> {
  const pid = getEngineProcess();
  process.kill(pid, 'SIGKILL');
  await untilGone(pid);
}

describe('when the engine process is killed', () => {
  test('a query that runs is asked again and answered, and is reported by endpoint and key', async () => {
    const running = ask(slow(500), { origin: 'some.endpoint request-1', lane: 'key-1' });
    await untilRunning(1);
    process.kill(getEngineProcess(), 'SIGKILL');
    expect(await running).toBe('0');
    expect(restarts).toEqual([{ reason: 'ended', ended: 'SIGKILL', failures: 0 }]);
    expect(engine.gauges()).toMatchObject({ state: 'up', restarts: 1 });
    expect(suspects).toEqual([{ origin: 'some.endpoint request-1', lane: 'key-1' }]);
  });

  test('inserts are stored exactly once, however it ends under them', async () => {
    for (let round = 0; round < 4; round++) {
      const inserts = Array.from({ length: 12 }, (_, i) => insert(100 * round + i));
      await inserts[round * 2];
      await kill();
      await Promise.all(inserts);
    }
    expect(await ask('SELECT count(), uniqExact(id) FROM rows')).toBe('48\t48');
  });

  test('filters of reading hold from the first query of the next one', async () => {
    await insert(1, 2, 3);
    await engine.setReadFilters(new Map([['rows', 'id > 1']]));
    process.kill(getEngineProcess(), 'SIGKILL');
    expect(await ask('SELECT count() FROM rows')).toBe('2');
    await expect(ask('INSERT INTO rows VALUES (9)')).rejects.toMatchObject({ code: 'query_failed' });
  });

  test('a query under which it ends twice is refused for a while, and others are answered', async () => {
    const identity = 'the same question';
    const running = settled(ask(slow(1_500), { identity }));
    for (let i = 0; i < 2; i++) {
      await untilRunning(1);
      await kill();
      await ask('SELECT 1');
    }
    expect(await running).toMatchObject({ code: 'engine_unavailable' });
    await expect(ask('SELECT 1', { identity })).rejects.toMatchObject({
      code: 'engine_unavailable',
      retryAfterSeconds: expect.closeTo(300, -1),
      message: expect.stringContaining('has ended the engine 2 times'),
    });
    expect(await ask('SELECT 2', { identity: 'another' })).toBe('2');
  });
});

// The engine opens this as a file of time zones, and waits for a writer that never comes, under a lock of the whole process.
test('a query that no kill ends, ends with its process, and everyone else is answered by the next', async () => {
  await engine.close();
  engine = await open(3_000); // before the heartbeat takes the process for a silent one
  const fifo = join(folder.path, 'zone');
  execFileSync('mkfifo', [fifo]);
  const stuck = `SELECT toTimezone(toDateTime64('2026-01-01 00:00:00', 6, 'UTC'), 'file:${fifo}')`;
  const failed = ask(stuck, { lane: 'attacker', origin: 'logs.all' });
  await expect(failed).rejects.toMatchObject({ code: 'query_timeout' });
  await expect.poll(() => restarts).toMatchObject([{ reason: 'stuck' }]);
  expect(await ask(`SELECT toTimezone(toDateTime(0, 'UTC'), 'Europe/Berlin')`)).toBe('1970-01-01 01:00:00');
  await insert(1);
  await expect.poll(() => suspects).toEqual([{ lane: 'attacker', origin: 'logs.all' }]);
  const second = settled(ask(stuck, { lane: 'another' }));
  await expect.poll(() => engine.gauges().running).toBe(1);
  await engine.close();
  expect(await second).toMatchObject({ code: expect.stringMatching(/engine_unavailable|query_timeout/) });
});

test('a process that stands still is replaced, and what waits for it is answered', async () => {
  const pid = getEngineProcess();
  process.kill(pid, 'SIGSTOP');
  // Longer than a query may take: the heartbeat notices it, or the deadline of a query.
  await expect.poll(() => restarts.map(({ reason }) => reason)).toEqual(['silent']);
  expect(await ask('SELECT 1')).toBe('1');
  await untilGone(pid);
});

// Each time zone stays in memory. At the bound the engine refuses the heartbeats, too, and answers each of them with an error.
test('an engine without free memory is replaced, and answers again', async () => {
  await engine.close();
  engine = await open(25_000, 640 * MIB);
  const zones = Array.from(
    { length: 150 },
    (_, i) =>
      `toTimezone(toDateTime(0, 'UTC'), 'Fixed/UTC+01:0${Math.floor(i / 60)}:${String(i % 60).padStart(2, '0')}')`,
  );
  await ask(`SELECT ${zones.join(', ')}`).catch(() => {});
  await expect.poll(() => restarts.map(({ reason }) => reason)).toEqual(['memory']);
  expect(await ask('SELECT 1')).toBe('1');
});
