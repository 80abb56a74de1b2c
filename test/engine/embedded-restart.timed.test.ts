import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedEngine, type Suspect } from '../../src/engine/embedded/embedded.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineRestart } from '../../src/engine/process/supervisor.ts';
import { findEngineProcesses, getEngineProcess, untilGone } from '../support/engine-process.ts';
import { temporaryFolder } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let engine: Engine;
let restarts: EngineRestart[];
let suspects: Suspect[];

beforeEach(async () => {
  folder = await temporaryFolder();
  restarts = [];
  suspects = [];
  // Two starts of the engine's process take some seconds on a busy machine.
  engine = await open(10_000);
  await engine.command(
    'CREATE TABLE tailrace.rows (id Int64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100',
  );
});
afterEach(async () => {
  await engine.close();
  await folder.remove();
  expect(findEngineProcesses()).toEqual([]);
});

const open = (timeoutMs: number) =>
  openEmbeddedEngine({
    dataDir: folder.path,
    readers: 3,
    queueMax: 10,
    queuePerLaneMax: 10,
    queueTimeoutMs: 10_000,
    memoryBytesMax: 2 * 1024 ** 3,
    limits: { timeoutMs, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 },
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

const untilRunning = (count: number) =>
  expect
    .poll(
      async () => {
        const [row] = await engine.inspect(
          `SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'`,
        );
        return Number(row?.['n']);
      },
      { interval: 10, timeout: 30_000 },
    )
    .toBe(count);

const slow = (ms: number, tag = '') => `SELECT '${tag}', sum(sleepEachRow(0.05)) FROM numbers(${ms / 50})`;

describe('when the engine process is killed', () => {
  test.each(['SIGKILL', 'SIGSEGV'] as const)(
    'by %s, a query that runs is asked again and answered',
    async (signal) => {
      const running = ask(slow(500));
      await untilRunning(1);
      process.kill(getEngineProcess(), signal);
      expect(await running).toBe('0');
      expect(restarts).toEqual([{ reason: 'ended', ended: signal, failures: 0 }]);
      expect(engine.gauges()).toMatchObject({ state: 'up', restarts: 1 });
    },
  );

  test('what was acknowledged is there, and an insert that was not is stored once', async () => {
    await insert(1, 2, 3);
    const pending = Promise.all(Array.from({ length: 20 }, (_, i) => insert(100 + i)));
    process.kill(getEngineProcess(), 'SIGKILL');
    await pending;
    expect(await ask('SELECT count(), uniqExact(id) FROM rows')).toBe('23\t23');
  });

  test('filters of reading hold from the first query of the next one', async () => {
    await insert(1, 2, 3);
    await engine.setReadFilters(new Map([['rows', 'id > 1']]));
    process.kill(getEngineProcess(), 'SIGKILL');
    expect(await ask('SELECT count() FROM rows')).toBe('2');
    await expect(ask('INSERT INTO rows VALUES (9)')).rejects.toMatchObject({ code: 'query_failed' });
  });

  test('running queries are reported, by endpoint and key', async () => {
    const running = ask(slow(500), { origin: 'some.endpoint request-1', lane: 'key-1' });
    await untilRunning(1);
    process.kill(getEngineProcess(), 'SIGKILL');
    await running;
    expect(suspects).toEqual([{ origin: 'some.endpoint request-1', lane: 'key-1' }]);
  });

  test('a query under which it ends twice is refused for a while, and others are answered', async () => {
    const identity = 'the same question';
    const running = ask(slow(1_500), { identity }).catch((error: unknown) => error);
    for (let i = 0; i < 2; i++) {
      await untilRunning(1);
      const pid = getEngineProcess();
      process.kill(pid, 'SIGKILL');
      await untilGone(pid);
      await ask('SELECT 1');
    }
    expect(await running).toMatchObject({ code: 'engine_unavailable' });
    const refused = ask('SELECT 1', { identity });
    await expect(refused).rejects.toMatchObject({
      code: 'engine_unavailable',
      retryAfterSeconds: expect.closeTo(300, -1),
    });
    await expect(refused).rejects.toThrow('has ended the engine 2 times');
    expect(await ask('SELECT 2', { identity: 'another' })).toBe('2');
  });

  test('closing at that moment ends everything', async () => {
    process.kill(getEngineProcess(), 'SIGKILL');
    await engine.close();
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
  });
});

describe('a query that no kill ends', () => {
  beforeEach(async () => {
    await engine.close();
    // Before the heartbeat takes the process for a silent one.
    engine = await open(3_000);
  });

  // The engine opens this as a file of time zones, and waits for a writer that never comes, under a lock of the whole process.
  const stuck = () => {
    const fifo = join(folder.path, 'zone');
    execFileSync('mkfifo', [fifo]);
    return `SELECT toTimezone(toDateTime64('2026-01-01 00:00:00', 6, 'UTC'), 'file:${fifo}')`;
  };

  test('ends with its process, and everyone else is answered by the next', async () => {
    const failed = ask(stuck(), { lane: 'attacker', origin: 'logs.all' });
    await expect(failed).rejects.toMatchObject({ code: 'query_timeout' });
    await expect.poll(() => restarts).toHaveLength(1);
    expect(restarts).toMatchObject([{ reason: 'stuck' }]);
    expect(await ask(`SELECT toTimezone(toDateTime(0, 'UTC'), 'Europe/Berlin')`)).toBe('1970-01-01 01:00:00');
    await insert(1);
    await expect.poll(() => suspects).toEqual([{ lane: 'attacker', origin: 'logs.all' }]);
    expect(engine.gauges()).toMatchObject({ running: 0, queued: 0 });
  });

  test('does not hold up closing', async () => {
    const failed = ask(stuck()).catch((error: unknown) => error);
    await expect.poll(() => engine.gauges().running).toBe(1);
    await engine.close();
    expect(await failed).toMatchObject({ code: expect.stringMatching(/engine_unavailable|query_timeout/) });
  });
});

test('a process that stands still is replaced, and what waits for it is answered', {
  tags: 'slow',
}, async () => {
  const pid = getEngineProcess();
  process.kill(pid, 'SIGSTOP');
  // Longer than a query may take: the heartbeat notices it, or the deadline of a query.
  await expect.poll(() => restarts.map(({ reason }) => reason), { timeout: 30_000 }).toEqual(['silent']);
  expect(await ask('SELECT 1')).toBe('1');
  await untilGone(pid);
});

test('reports the memory of its process', async () => {
  await expect.poll(() => engine.gauges().memoryBytes, { timeout: 30_000 }).toBeGreaterThan(50 * 1024 ** 2);
});
