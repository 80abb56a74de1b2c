import { expect, test } from 'vitest';
import { findEngineProcesses } from '../support/engine-process.ts';
import { describeEngine } from './contract.ts';
import { openEmbedded } from './open.ts';

describeEngine('the embedded engine', openEmbedded);

const limits = { timeoutMs: 120_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 };
const SIZE = { readers: 1, queueMax: 1, limits };

test('after a kill -9 of its process the engine comes back with every row whose insert resolved', async () => {
  const others = new Set(findEngineProcesses()); // of the service that the files of a worker share
  const { engine, remove } = await openEmbedded(SIZE);
  const pids = findEngineProcesses().filter((pid) => !others.has(pid));
  await engine.command('CREATE TABLE tailrace.rows (id Int64) ENGINE = MergeTree ORDER BY id');
  for (let id = 0; id < 20; id++) {
    const bytes = Buffer.from(`[${id}]\n`);
    await engine.insert({ table: 'rows', columns: ['id'], format: 'JSONCompactEachRow', bytes });
  }
  expect(pids).toHaveLength(1);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await expect.poll(() => engine.gauges()).toMatchObject({ state: 'up', restarts: 1 });
  const sql = 'SELECT count(), uniqExact(id) FROM rows';
  expect((await engine.query(sql, {}, { format: 'TSVRaw' })).bytes.toString()).toBe('20\t20\n');
  await engine.close();
  await remove();
});
