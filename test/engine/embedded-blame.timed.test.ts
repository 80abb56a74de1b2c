import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedEngine, type Suspect } from '../../src/engine/embedded/embedded.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineRestart } from '../../src/engine/process/supervisor.ts';
import { trusted } from '../../src/sql/sql.ts';
import { findEngineProcesses, getEngineProcess, untilGone } from '../support/engine-process.ts';
import { temporaryFolder } from '../support/service.ts';

const MIB = 1024 * 1024;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let engine: Engine;
let restarts: EngineRestart[];
let suspects: Suspect[];

beforeEach(async () => {
  folder = await temporaryFolder();
  restarts = [];
  suspects = [];
  engine = await open(2_048 * MIB);
});
afterEach(async () => {
  await engine.close();
  await folder.remove();
  expect(findEngineProcesses()).toEqual([]);
});

function open(memoryBytesMax: number): Promise<Engine> {
  return openEmbeddedEngine({
    dataDir: folder.path,
    readers: 3,
    queueMax: 10,
    queuePerLaneMax: 10,
    queueTimeoutMs: 20_000,
    memoryBytesMax,
    // Longer than the heartbeats take to notice that none is answered.
    limits: { timeoutMs: 25_000, memoryBytesMax: 1024 * MIB, resultBytesMax: MIB },
    onRestart: (restart) => restarts.push(restart),
    onSuspect: (query) => suspects.push(query),
  });
}

async function ask(sql: string, options = {}): Promise<string> {
  return (await engine.query(sql, {}, { format: 'TSVRaw', ...options })).bytes.toString().trim();
}

async function isRunning(marker: string): Promise<boolean> {
  const [row] = await engine.inspect(
    trusted(
      `SELECT count() AS n FROM system.processes WHERE query LIKE '%${marker}%' AND query NOT LIKE '%processes%'`,
    ),
  );
  return Number(row?.['n']) > 0;
}
const untilRunning = (marker: string) =>
  expect.poll(() => isRunning(marker), { interval: 5, timeout: 30_000 }).toBe(true);

const slow = (ms: number, marker: string) =>
  `SELECT '${marker}', sum(sleepEachRow(0.05)) FROM numbers(${ms / 50})`;

test('of two that run in a crash, only the one is refused that runs in the next crash, too', async () => {
  const innocent = ask(slow(600, 'innocent'), { identity: 'innocent' });
  await untilRunning('innocent');
  const guilty = ask(slow(5_000, 'guilty'), { identity: 'guilty' }).catch((error: unknown) => error);
  await untilRunning('guilty');
  for (let i = 0; i < 2; i++) {
    const pid = getEngineProcess();
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
    if (i === 0) await untilRunning('guilty');
  }
  expect(await innocent).toBe('innocent\t0');
  expect(await guilty).toMatchObject({ code: 'engine_unavailable' });
  await expect(ask('SELECT 1', { identity: 'guilty' })).rejects.toThrow('this query has ended the engine 2');
  expect(await ask('SELECT 1', { identity: 'innocent' })).toBe('1');
}, 60_000);

test('after two crashes in which only queries of one key ran, it is refused there with all of its tokens', async () => {
  const origin = 'some.endpoint request-1';
  const attack = ['key/one', 'key/two'].map((lane, i) =>
    ask(slow(5_000, `attack-${i}`), { lane, origin }).catch((error: unknown) => error),
  );
  await untilRunning('attack-0');
  await untilRunning('attack-1');
  for (let i = 0; i < 2; i++) {
    const pid = getEngineProcess();
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
    if (i === 0) await untilRunning('attack-');
  }
  expect(await attack[0]).toMatchObject({ code: 'engine_unavailable' });
  expect(await attack[1]).toMatchObject({ code: 'engine_unavailable' });
  await expect(ask('SELECT 1', { lane: 'key/three', origin })).rejects.toThrow(
    'of this key to this endpoint',
  );
  expect(await ask('SELECT 1', { lane: 'key/three', origin: 'another.endpoint request-2' })).toBe('1');
  expect(await ask('SELECT 1', { lane: 'other', origin })).toBe('1');
}, 60_000);

test('a query that silences the engine is not retried, and queries behind it are answered', {
  tags: 'slow',
}, async () => {
  const fifo = join(folder.path, 'zone');
  execFileSync('mkfifo', [fifo]);
  const stop = `SELECT toTimezone(toDateTime(0, 'UTC'), 'file:${fifo}')`;
  const attacker = { lane: 'attacker/token-1', origin: 'some.endpoint request-1' };
  const attack = ask(stop, attacker).catch((error: unknown) => error);
  await untilRunning('file:');
  const behind = ask(`SELECT toTimezone(toDateTime(0, 'UTC'), 'Asia/Tokyo')`, { lane: 'other' });
  expect(await behind).toBe('1970-01-01 09:00:00');
  expect(await attack).toMatchObject({ code: 'engine_unavailable' });
  expect(restarts).toMatchObject([{ reason: 'silent' }]);
  expect(suspects).toEqual([attacker]);
  // With other values or tokens it is the same attack; other endpoints and keys are answered.
  const next = { ...attacker, lane: 'attacker/token-2' };
  await expect(ask(`${stop} AS other`, next)).rejects.toThrow('a query of this key to this endpoint');
  expect(await ask('SELECT 1', { ...next, origin: 'another.endpoint request-2' })).toBe('1');
  expect(await ask('SELECT 1', { lane: 'other', origin: 'some.endpoint request-3' })).toBe('1');
});

// Each time zone stays in memory. At the bound the engine refuses the heartbeats, too, and answers each of them with an error.
test('an engine without free memory is replaced, and answers again', { tags: 'slow' }, async () => {
  await engine.close();
  engine = await open(640 * MIB);
  const zones = Array.from(
    { length: 150 },
    (_, i) =>
      `toTimezone(toDateTime(0, 'UTC'), 'Fixed/UTC+01:0${Math.floor(i / 60)}:${String(i % 60).padStart(2, '0')}')`,
  );
  await ask(`SELECT ${zones.join(', ')}`).catch(() => {});
  await expect.poll(() => restarts.map(({ reason }) => reason), { timeout: 30_000 }).toEqual(['memory']);
  expect(await ask('SELECT 1')).toBe('1');
});

test('closing while a process starts leaves none, and the store to the next one', async () => {
  const first = getEngineProcess();
  process.kill(first, 'SIGKILL');
  await expect
    .poll(() => findEngineProcesses().filter((pid) => pid !== first), { interval: 5, timeout: 30_000 })
    .toHaveLength(1);
  await engine.close();
  expect(findEngineProcesses()).toEqual([]);
  engine = await open(2_048 * MIB);
  expect(await ask('SELECT 1')).toBe('1');
});
