import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { endLeftProcesses, runCli, startCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { copyFewDefinitions } from '../support/definitions.ts';
import { toNdjson } from '../support/events.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(endLeftProcesses);
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 }); // each test starts the command several times

const EDGE = 'cloudflare.logs.prod';
const at = (name: string) => join(folder.path, name);

// Every column of every row.
const ALL_ROWS = "SELECT id, formatRowNoNewline('TSV', *) AS row FROM edge_logs ORDER BY id";
let services = 0;

/** An endpoint of the tests that shows every row as it is stored, beside one that ships. */
async function makeDefinitions(): Promise<Record<string, string>> {
  const dir = at(`definitions${services++}`);
  const folders = await copyFewDefinitions(dir);
  await mkdir(join(dir, 'endpoints/test.rows'));
  await writeFile(join(dir, 'endpoints/test.rows/query.sql'), `${ALL_ROWS}\n`);
  await writeFile(
    join(dir, 'endpoints/test.rows/endpoint.yaml'),
    `id: 4d7cb6ab-6a43-4b0f-9f5d-0c7c3e1d3b2a
name: test.rows
description: Every row of the edge events.
max_rows: 100000
caching: disabled
query_sandboxing: false
parameters: {}
columns:
  id: { type: string, description: Its id. }
  row: { type: string, description: All of it. }
`,
  );
  return { ...folders, TAILRACE_PRIVATE_KEY: PRIVATE_KEY, TAILRACE_BACKUP_DIR: folder.path };
}

async function fill(env: Readonly<Record<string, string>>, rows: number): Promise<void> {
  expect(await runCli(['sample', '--rows', String(rows)], { env })).toMatchObject({ code: 0 });
}

async function readRows(url: string, key = PRIVATE_KEY): Promise<Map<string, string>> {
  const response = await fetch(`${url}/api/endpoints/query/test.rows`, { headers: { 'x-api-key': key } });
  const body = (await response.json()) as { result: { id: string; row: string }[] };
  expect(response.status, JSON.stringify(body)).toBe(200);
  return new Map(body.result.map(({ id, row }) => [id, row]));
}

/** Sends events one request after another until it is stopped; remembers those that were acknowledged. */
function startWriting(url: string, name: string) {
  const acknowledged = new Set<string>();
  let stopped = false;
  const writing = (async () => {
    for (let i = 0; !stopped; i++) {
      const events = Array.from({ length: 20 }, (_, j) => ({
        id: `${name}-${i}-${j}`,
        timestamp: new Date(Date.now() - ((i + j) % 3) * 86_400_000).toISOString(),
        project: `p${j % 3}`,
        event_message: `ünï ${i} 🜂`,
        metadata: { request: { path: `/${i}`, n: 2 ** 60, 'a.b': null }, list: [] },
      }));
      const sent = await fetch(`${url}/api/logs?source_name=${EDGE}`, {
        method: 'POST',
        headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/x-ndjson' },
        body: toNdjson(events),
      }).catch(() => undefined);
      if (sent?.status === 200) for (const { id } of events) acknowledged.add(id);
      await sent?.body?.cancel();
    }
  })();
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await writing;
    },
  };
}

describe.skipIf(ON_SERVER)('backup and restore', () => {
  /** Settings of a store with 3,000 events, whose backup is in `saved`. The tests change neither. */
  let stored: Record<string, string> = {};

  beforeAll(async () => {
    stored = { ...(await makeDefinitions()), TAILRACE_DATA_DIR: at('stored') };
    await fill(stored, 3000);
    expect(await runCli(['backup', at('saved')], { env: stored })).toMatchObject({ code: 0 });
  });

  test('a backup under writes has every event that was acknowledged before it, after kill -9 and restore, and the keys work', async () => {
    const definitions = await makeDefinitions();
    const env = { ...definitions, TAILRACE_DATA_DIR: at('live') };
    const made = await runCli(['keys', 'create', '--name', 'reader'], { env });
    const [key = ''] = /^tr_\S+/m.exec(made.stdout) ?? [];
    const service = await startServe(env);
    const writer = startWriting(service.url, 'a');
    await vi.waitFor(() => expect(writer.acknowledged.size).toBeGreaterThan(200), 20_000);
    const before = [...writer.acknowledged];
    const rows = await readRows(service.url);
    const done = await runCli(['backup', at('backup')], { env });
    expect(done).toMatchObject({ code: 0 });
    const afterwards = [...writer.acknowledged];
    expect(afterwards.length).toBeGreaterThan(before.length); // nothing stopped meanwhile
    await service.stop('SIGKILL');
    await writer.stop();

    const empty = { ...definitions, TAILRACE_DATA_DIR: at('restored') };
    const restored = await runCli(['restore', at('backup')], { env: empty });
    expect(restored).toMatchObject({ code: 0 });
    const again = await startServe(empty);
    const found = await readRows(again.url, key); // with the key that was in the backup
    for (const id of before) expect(found.has(id), id).toBe(true);
    for (const [id, row] of rows) expect(found.get(id)).toBe(row);
    const stored = Number(/: ([\d,]+) events/.exec(restored.stdout)?.[1]?.replaceAll(',', ''));
    expect(found.size).toBe(stored);
    // It is a store like any other.
    const more = startWriting(again.url, 'b');
    await vi.waitFor(() => expect(more.acknowledged.size).toBeGreaterThan(0), 20_000);
    await more.stop();
    expect((await again.stop()).code).toBe(0);
  });

  test('a restore that was killed leaves a directory that no command opens', async () => {
    const half = { ...stored, TAILRACE_DATA_DIR: at('cut-data') };
    const restoring = startCli(['restore', at('saved')], { env: half });
    await vi.waitFor(() => expect(existsSync(join(at('cut-data'), 'store/store'))).toBe(true), {
      timeout: 60_000,
      interval: 5,
    });
    restoring.child.kill('SIGKILL');
    await restoring.ended;
    for (const args of [['query', 'test.rows'], ['serve'], ['backup', at('of-cut')]])
      expect(await runCli(args, { env: half })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('"tailrace restore" did not finish'),
      });
  });

  test('a backup whose service is killed is never restored', async () => {
    const env = { ...(await makeDefinitions()), TAILRACE_DATA_DIR: at('cut-live') };
    await fill(env, 3000);
    const service = await startServe(env);
    const writing = startCli(['backup', at('cut-backup')], { env });
    await vi.waitFor(() => expect(existsSync(at('cut-backup'))).toBe(true), {
      timeout: 60_000,
      interval: 1,
    });
    writing.child.kill('SIGKILL');
    await service.stop('SIGKILL');
    await writing.ended;
    const empty = { ...env, TAILRACE_DATA_DIR: at('of-cut-live') };
    expect(await runCli(['restore', at('cut-backup')], { env: empty })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('an unfinished one'),
    });
  });
});
