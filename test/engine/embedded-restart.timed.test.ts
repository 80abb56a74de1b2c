import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import type { Suspect } from '../../src/engine/embedded/running.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineRestart } from '../../src/engine/process/engine-process.ts';
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
  engine = await openEmbeddedEngine({
    dataDir: folder.path,
    backupDir: folder.path,
    readers: 3,
    queueMax: 10,
    queuePerLaneMax: 10,
    queueTimeoutMs: 20_000,
    memoryBytesMax: 2_048 * MIB,
    // Two starts of the engine's process take some seconds on a busy machine.
    limits: { timeoutMs: 10_000, memoryBytesMax: 1024 * MIB, resultBytesMax: MIB },
    onRestart: (restart) => restarts.push(restart),
    onSuspect: (query) => suspects.push(query),
  });
});
afterEach(async () => {
  await engine.close();
  await folder.remove();
  expect(findEngineProcesses()).toEqual([]);
});

async function ask(sql: string, options = {}): Promise<string> {
  return (await engine.query(sql, {}, { format: 'TSVRaw', ...options })).bytes.toString().trim();
}

async function untilRunning(count: number): Promise<void> {
  const sql =
    "SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%processes%'";
  const running = async () => Number((await engine.inspect(sql))[0]?.['n']);
  await expect.poll(running, { interval: 5 }).toBe(count);
}

test('when the engine process is killed a query that runs is asked again and answered, and is reported by endpoint and key', async () => {
  const running = ask('SELECT sum(sleepEachRow(0.05)) FROM numbers(10)', {
    origin: 'some.endpoint request-1',
    lane: 'key-1',
  });
  await untilRunning(1);
  process.kill(getEngineProcess(), 'SIGKILL');
  expect(await running).toBe('0');
  expect(restarts).toEqual([{ reason: 'ended', ended: 'SIGKILL', failures: 0 }]);
  expect(engine.gauges()).toMatchObject({ state: 'up', restarts: 1 });
  expect(suspects).toEqual([{ origin: 'some.endpoint request-1', lane: 'key-1' }]);
});

test('a process that stands still is replaced, and what waits for it is answered', async () => {
  const pid = getEngineProcess();
  process.kill(pid, 'SIGSTOP');
  // Longer than a query may take: the heartbeat notices it, or the deadline of a query.
  await expect.poll(() => restarts.map(({ reason }) => reason)).toEqual(['silent']);
  expect(await ask('SELECT 1')).toBe('1');
  await untilGone(pid);
});
