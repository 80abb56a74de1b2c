import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import { afterAll, expect, test } from 'vitest';
import { writeEngineConfig } from '../../src/engine/embedded/config.ts';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import { startEngineProcess } from '../../src/engine/process/engine-process.ts';
import { temporaryFolder } from '../support/service.ts';

const MEMORY_BYTES_MAX = 1024 ** 3;
const folder = await temporaryFolder();
afterAll(folder.remove);

const RECOMPRESSED = ', timestamp + toIntervalDay(1) RECOMPRESS CODEC(ZSTD(9))';
// The oldest versions compressed nothing again.
const TABLES = [
  ['edge_logs', RECOMPRESSED],
  ['index', RECOMPRESSED],
  ['auth_logs', ''],
] as const;

/** A store of an older version, with events that the engine has not deleted yet. */
async function leaveOldStore(dataDir: string): Promise<void> {
  const storeDir = join(dataDir, 'store');
  mkdirSync(storeDir, { recursive: true });
  const connectionArgs = writeEngineConfig(join(dataDir, 'engine'), MEMORY_BYTES_MAX, false);
  const session = new Session(storeDir, { connectionArgs });
  await session.queryAsync('CREATE DATABASE tailrace');
  for (const [table, also] of TABLES) {
    await session.queryAsync(`CREATE TABLE tailrace.\`${table}\` (id String, timestamp DateTime64(6, 'UTC'))
      ENGINE = MergeTree PARTITION BY toDate(timestamp) ORDER BY id
      TTL timestamp + toIntervalDay(2)${also}
      SETTINGS ttl_only_drop_parts = 1`);
    await session.queryAsync(
      `INSERT INTO tailrace.\`${table}\` SELECT toString(number), now64(6) - toIntervalDay(5) FROM numbers(100)`,
    );
  }
  session.close();
}

/** As a start that was killed leaves it: its engine process ends a moment later. */
async function holdStore(dataDir: string): Promise<() => void> {
  const connectionArgs = writeEngineConfig(join(dataDir, 'engine'), MEMORY_BYTES_MAX, false);
  const process = startEngineProcess(1);
  await process.ask(0, { op: 'open', path: join(dataDir, 'store'), connectionArgs, statements: [] });
  return () => process.kill();
}

test('the engine deletes nothing of an older version’s store, from the moment that it is opened', async () => {
  await leaveOldStore(folder.path);
  const end = await holdStore(folder.path);
  setTimeout(end, 500);
  const engine = await openEmbeddedEngine({
    dataDir: folder.path,
    readers: 1,
    queueMax: 1,
    queuePerLaneMax: 1,
    queueTimeoutMs: 1_000,
    memoryBytesMax: MEMORY_BYTES_MAX,
    limits: { timeoutMs: 10_000, memoryBytesMax: MEMORY_BYTES_MAX, resultBytesMax: 1024 ** 2 },
  });
  for (const [table] of TABLES) {
    await engine.command(`OPTIMIZE TABLE tailrace.\`${table}\` FINAL`); // a merge, now instead of some time later
    expect(await engine.inspect(`SELECT count() AS rows FROM tailrace.\`${table}\``)).toEqual([
      { rows: 100 },
    ]);
  }
  const settings = await engine.inspect(
    "SELECT value FROM system.merge_tree_settings WHERE name = 'max_bytes_to_merge_at_min_space_in_pool'",
  );
  expect(settings).not.toEqual([{ value: '1' }]); // it merges by itself again
  await engine.close();
});
