import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import { temporaryFolder } from '../support/service.ts';
import { describeEngine, type EngineSize } from './contract.ts';

// No longer than the suite waits for anything.
const QUEUE = { queuePerLaneMax: 10, queueTimeoutMs: 15_000 };

function open(dataDir: string, size: EngineSize) {
  return openEmbeddedEngine({ ...size, ...QUEUE, dataDir, memoryBytesMax: 2 * 1024 ** 3 });
}

describeEngine('the embedded engine', async (size) => {
  const folder = await temporaryFolder();
  return { engine: await open(folder.path, size), remove: folder.remove };
});

// Inserts a row after another and says the number of each as soon as the insert has resolved.
const INSERTER = `
const { openEmbeddedEngine } = await import('./src/engine/embedded/embedded.ts');
const limits = { timeoutMs: 10000, memoryBytesMax: 1e9, resultBytesMax: 1e6 };
const engine = await openEmbeddedEngine({ dataDir: process.argv[1], readers: 1, queueMax: 1, queuePerLaneMax: 1, queueTimeoutMs: 1000, memoryBytesMax: 2e9, limits });
await engine.command('CREATE TABLE tailrace.rows (id Int64) ENGINE = MergeTree ORDER BY id');
for (let id = 0; ; id++) {
  const bytes = Buffer.from('[' + id + ']\\n');
  await engine.insert({ table: 'rows', columns: ['id'], format: 'JSONCompactEachRow', bytes });
  console.log(id);
}`;

describe('the store of the embedded engine', () => {
  const size = {
    readers: 1,
    queueMax: 1,
    limits: { timeoutMs: 10_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 },
  };
  const count = 'SELECT count() FROM rows WHERE id <= @last::Int64';

  test('has every row whose insert resolved, after a kill -9', async () => {
    const folder = await temporaryFolder();
    const writer = spawn(process.execPath, ['--input-type=module', '-e', INSERTER, folder.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let last = -1;
    for await (const line of createInterface({ input: writer.stdout })) {
      last = Number(line);
      if (last === 20) writer.kill('SIGKILL');
    }
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
    expect(last).toBeGreaterThanOrEqual(20);

    const engine = await open(folder.path, size);
    const { bytes } = await engine.query(count, { last: String(last) }, { format: 'TSVRaw' });
    expect(bytes.toString()).toBe(`${last + 1}\n`);
    await engine.close();
    await folder.remove();
  });
});

test('a query is not compiled when it runs again: a short one would take several times as long', async () => {
  const folder = await temporaryFolder();
  const limits = { timeoutMs: 10_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 };
  const engine = await open(folder.path, { readers: 1, queueMax: 1, limits });
  const compiled =
    "SELECT sum(value) FROM system.events WHERE event IN ('CompileFunction', 'CompileExpressionsMicroseconds')";
  const sql =
    'SELECT sum(number * 2 + 1), count() FROM numbers(100) WHERE number % 7 > 2 GROUP BY number % 3';
  const count = async () => JSON.stringify(await engine.inspect(compiled));
  const before = await count();
  for (let run = 0; run < 6; run++) await engine.query(sql, {}, { format: 'TSVRaw' });
  expect(await count()).toBe(before);
  await engine.close();
  await folder.remove();
});
