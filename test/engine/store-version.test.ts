import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import type { Engine } from '../../src/engine/engine.ts';
import {
  findStoreVersion,
  STORE_VERSION,
  type Upgrade,
  upgradeStore,
  writeStoreVersion,
} from '../../src/engine/store-version.ts';
import { createSecret } from '../../src/keys/secret.ts';
import { createRandom } from '../../src/lib/random.ts';
import { openCore } from '../../src/service/open-core.ts';
import { createService } from '../../src/service/service.ts';
import { trusted } from '../../src/sql/sql.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { QUERY_PATH, request } from '../support/http.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const FIXTURES = 'test/fixtures';
const VERSION_FILE = 'store-version.json';
const OPTIONS = {
  readers: 1,
  queueMax: 10,
  queuePerLaneMax: 10,
  queueTimeoutMs: 10_000,
  memoryBytesMax: 1024 ** 3,
  limits: { timeoutMs: 30_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 },
};

/** Rows of a table as an older version stored them: the columns of every event alone, so that the typed ones are computed. */
function makeRows(count: number, project: string): string {
  const random = createRandom(project);
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `${project}-${i}`,
      timestamp: Math.floor((Date.now() - random.next() * 3 * 86_400_000) * 1000),
      project,
      event_message: `ünï ${i}\t\\N`,
      metadata: JSON.stringify({
        request: { path: `/rest/v1/${i}`, url: `https://${project}.example.com/rest/v1/${i}`, method: 'GET' },
        response: { status_code: 200 + (i % 3) * 150 },
        'a.b': [null, { c: `${2 ** 60}` }],
      }),
      attributes: i % 2 === 0 ? '' : '{"source":"x"}',
    }),
  ).join('\n');
}

/** A store that was left by a program of that version, with so many rows and a key. @returns the rows as they are stored */
async function makeStore(dir: string, version: number, count: number) {
  const statements = await readFile(join(FIXTURES, `store-${version}`, 'events.sql'), 'utf8');
  const engine = await openEmbeddedEngine({ ...OPTIONS, dataDir: dir });
  for (const sql of statements.split(/;\n/).filter((text) => text.trim() !== ''))
    await engine.command(trusted(sql));
  for (const project of ['p1', 'p2'])
    await engine.command(trusted(`INSERT INTO edge_logs FORMAT JSONEachRow\n${makeRows(count, project)}`));
  const rows = (await engine.query(ROWS, {}, { format: 'JSONEachRow' })).bytes.toString();
  await engine.close();
  const secret = createSecret();
  const database = new DatabaseSync(join(dir, 'control.sqlite'));
  database.exec(await readFile(join(FIXTURES, `store-${version}`, 'control.sql'), 'utf8'));
  const columns = 'id, name, description, hash, scopes, pins, created_ms';
  database
    .prepare(`INSERT INTO keys (${columns}) VALUES (?, 'old', '', ?, 'query', '{"project":"p1"}', 1)`)
    .run(secret.id, secret.hash);
  database.close();
  return { rows, key: secret.key };
}

// The columns that version 1 had.
const ROWS = `SELECT * EXCEPT (is_rest, is_storage, is_auth, is_realtime, names_project) FROM edge_logs ORDER BY id`;

describe.skipIf(ON_SERVER)('the version of a store', () => {
  const versions = readVersions();
  test('there are fixtures of every version', async () => {
    expect(await versions).toEqual(Array.from({ length: STORE_VERSION }, (_, i) => i + 1));
  });

  test('a store that version 1 has left is opened with every row, its columns and its keys, and carries the version then', async () => {
    const dir = join(folder.path, 'left');
    const { rows, key } = await makeStore(dir, 1, 500);
    expect(existsSync(join(dir, VERSION_FILE))).toBe(false);
    const service = await createService(testConfig(dir), {
      logger: pino({ level: 'silent' }),
      owner: 'a test',
    });
    try {
      const now = await service.core.engine.inspect(ROWS);
      expect(now.map((row) => JSON.stringify(row))).toEqual(rows.trimEnd().split('\n').map(normalize));
      expect(now[0]).toMatchObject({ path: '/rest/v1/0', address: 'https://p1.example.com/rest/v1/0' });
      const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
      const answer = await request(url, `${QUERY_PATH}/logs.all?project_tier=PRO`, {
        headers: { 'x-api-key': key },
      });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.result).toHaveLength(100);
      expect(JSON.parse(await readFile(join(dir, VERSION_FILE), 'utf8'))).toMatchObject({
        store: STORE_VERSION,
      });
    } finally {
      await service.close();
    }
  });

  test('a store of a newer version is refused before the engine touches it', async () => {
    const dir = join(folder.path, 'newer');
    await mkdir(join(dir, 'store'), { recursive: true });
    writeStoreVersion(dir, STORE_VERSION + 1);
    await expect(openCore(testConfig(dir), 'a test')).rejects.toThrow(
      /event store in .* is of version \d+, newer than this Tailrace .* reads \(\d+\); update Tailrace/,
    );
    expect(await readdir(join(dir, 'store'))).toEqual([]);
  });

  test('a file that says no version is refused', async () => {
    const dir = join(folder.path, 'broken');
    await mkdir(dir);
    for (const text of ['', '{}', '{"store":"x"}', '{"store":0}']) {
      await writeFile(join(dir, VERSION_FILE), text);
      expect(() => findStoreVersion(dir)).toThrow(/store-version\.json cannot be read/);
    }
  });

  test('a new store is of the present version, one without a file of the first', async () => {
    const dir = join(folder.path, 'new');
    await mkdir(dir);
    expect(findStoreVersion(dir, 7)).toBe(7);
    await mkdir(join(dir, 'store'));
    expect(findStoreVersion(dir, 7)).toBe(1);
  });

  test('an upgrade runs the steps that a store lacks, in order', async () => {
    const engine = {} as Engine; // the steps of this test do not use it
    const taken: number[] = [];
    const upgrades: Upgrade[] = [2, 3, 4].map((to) => async () => void taken.push(to));
    await upgradeStore(engine, { from: 2, sources: [] }, upgrades);
    expect(taken).toEqual([3, 4]);
    await upgradeStore(engine, { from: 4, sources: [] }, upgrades);
    expect(taken).toEqual([3, 4]);
    await upgradeStore(engine, { from: 1, sources: [] }, upgrades);
    expect(taken).toEqual([3, 4, 2, 3, 4]);
  });
});

async function readVersions(): Promise<number[]> {
  const names = await readdir(FIXTURES);
  return names.flatMap((name) => /^store-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
}

/** 64-bit integers are written without quotes by the service. */
function normalize(line: string): string {
  return JSON.stringify(JSON.parse(line));
}
