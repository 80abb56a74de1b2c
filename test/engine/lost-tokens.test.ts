import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Core, openCore } from '../../src/service/open-core.ts';
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

const DAY = '2026-11-20';

const insert = (id: string, token: string) =>
  core.engine.insert({
    table: 'edge_logs',
    columns: ['id', 'timestamp', 'project', 'event_message', 'metadata', 'attributes'],
    format: 'JSONCompactEachRow',
    bytes: Buffer.from(`["${id}","${DAY} 00:00:00","p","m","{}",""]\n`),
    token,
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

test.each([
  ['is stored when a kill came between the token and the part', false, ['2_2_0']],
  ['is not stored again when its part was merged into another', true, ['1_1_0', '2_2_0']],
])('an insert that is sent again under its token %s', async (_, merges, lost) => {
  await insert('a', 'token-a');
  await insert('b', 'token-b');
  if (merges) await core.engine.command('OPTIMIZE TABLE edge_logs FINAL');
  await core.close();
  await removeParts(lost.map((blocks) => `${DAY.replaceAll('-', '')}_${blocks}`));
  core = await open();
  await insert('a', 'token-a');
  await insert('b', 'token-b');
  expect(await readIds()).toEqual(['a', 'b']);
});
