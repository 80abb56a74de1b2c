import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Core, openCore } from '../../src/service/open-core.ts';
import { getEngineProcess, untilGone } from '../support/engine-process.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let core: Core;
const open = () => openCore(testConfig(folder.path), 'a test');

beforeEach(async () => {
  folder = await temporaryFolder();
  core = await open();
});
afterEach(async () => {
  await core.close();
  await folder.remove();
});

const DAY = new Date().toISOString().slice(0, 10);

const insert = (ids: readonly string[], token?: string) =>
  core.engine.insert({
    table: 'edge_logs',
    columns: ['id', 'timestamp', 'project', 'event_message', 'metadata', 'attributes'],
    format: 'JSONCompactEachRow',
    bytes: Buffer.from(ids.map((id) => `["${id}","${DAY} 00:00:00","p","m","{}",""]\n`).join('')),
    ...(token !== undefined && { token }),
  });

async function readIds(): Promise<string[]> {
  const rows = await core.engine.inspect('SELECT id FROM edge_logs ORDER BY id');
  return rows.map((row) => String(row['id']));
}

/** Removes directories of parts behind the engine's back. */
async function removeParts(names: readonly string[]): Promise<void> {
  const root = join(folder.path, 'store', 'store');
  let removed = 0;
  for (const dir of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!dir.isDirectory() || !names.includes(dir.name)) continue;
    await rm(join(dir.parentPath, dir.name), { recursive: true });
    removed++;
  }
  expect(removed).toBe(names.length);
}

const partOf = (blocks: string) => `${DAY.replaceAll('-', '')}_${blocks}`;

describe('an insert that is sent again under its token', () => {
  test('is stored when a kill came between the token and the part', async () => {
    await insert(['a'], 'token-a');
    await insert(['b'], 'token-b');
    await core.close();
    await removeParts([partOf('2_2_0')]);
    core = await open();
    await insert(['a'], 'token-a');
    await insert(['b'], 'token-b');
    expect(await readIds()).toEqual(['a', 'b']);
  });

  test('is not stored again when its part was merged into another', async () => {
    await insert(['a'], 'token-a');
    await insert(['b'], 'token-b');
    await core.engine.command('OPTIMIZE TABLE edge_logs FINAL');
    await core.close();
    await removeParts([partOf('1_1_0'), partOf('2_2_0')]);
    core = await open();
    await insert(['a'], 'token-a');
    await insert(['b'], 'token-b');
    expect(await readIds()).toEqual(['a', 'b']);
  });
});

test('inserts without a token of their own are stored exactly once, however the engine process ends under them', async () => {
  const expected: string[] = [];
  for (let round = 0; round < 4; round++) {
    const pid = getEngineProcess();
    const inserts = Array.from({ length: 12 }, (_, i) => {
      const id = `${round}-${String(i).padStart(2, '0')}`;
      expected.push(id);
      return insert([id]);
    });
    await inserts[round * 2];
    process.kill(pid, 'SIGKILL');
    await Promise.all(inserts);
    await untilGone(pid);
  }
  expect(await readIds()).toEqual(expected);
}, 60_000);
