import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
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
  return { ...folders, TAILRACE_PRIVATE_KEY: PRIVATE_KEY };
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
    expect(restored.stdout).toContain('equals the backup');
    const again = await startServe(empty);
    const found = await readRows(again.url, key); // with the key that was in the backup
    for (const id of before) expect(found.has(id), id).toBe(true);
    for (const [id, row] of rows) expect(found.get(id)).toBe(row);
    const stored = Number(/has ([\d,]+) events/.exec(done.stdout)?.[1]?.replaceAll(',', ''));
    expect(found.size).toBe(stored);
    // It is a store like any other.
    const more = startWriting(again.url, 'b');
    await vi.waitFor(() => expect(more.acknowledged.size).toBeGreaterThan(0), 20_000);
    await more.stop();
    expect((await again.stop()).code).toBe(0);
  });

  test('a second backup links what the first has, and stands by itself', async () => {
    const env = { ...(await makeDefinitions()), TAILRACE_DATA_DIR: at('chain') };
    await fill(env, 3000);
    expect(await runCli(['backup', at('first')], { env })).toMatchObject({ code: 0 }); // without a service
    const file = at('more.ndjson');
    await writeFile(file, toNdjson([{ id: 'late', timestamp: new Date().toISOString(), project: 'aurora' }]));
    expect(await runCli(['load', EDGE, file], { env })).toMatchObject({ code: 0 });
    const second = await runCli(['backup', at('second'), '--base', at('first')], { env });
    expect(second).toMatchObject({ code: 0 });
    expect(second.stdout).toMatch(/3,001 events \(\d.* copied, \d.* linked\)/);
    const links = (name: string) => countLinks(join(at('second'), name));
    const [before, now] = [await listParts(at('first')), await listParts(at('second'))];
    const [same, added] = [
      before.filter((name) => now.includes(name)),
      now.filter((name) => !before.includes(name)),
    ];
    expect(await Promise.all(same.map(links))).toEqual(same.map(() => 2));
    expect(await Promise.all(added.map(links))).toEqual(added.map(() => 1));
    expect([same.length, added.length]).not.toContain(0);
    await rm(at('first'), { recursive: true });
    const empty = { ...env, TAILRACE_DATA_DIR: at('chain-restored') };
    expect(await runCli(['restore', at('second')], { env: empty })).toMatchObject({ code: 0 });
    const service = await startServe(empty);
    expect((await readRows(service.url)).has('late')).toBe(true);
    await service.stop();
  });

  test('without settings of folders it has the definitions that are served, and restores those that are not shipped', async () => {
    const [cwd, other] = [at('working'), at('other')];
    await Promise.all([cwd, other].map((dir) => mkdir(dir)));
    await writeFile(join(cwd, 'secret.txt'), 'no definition');
    const live = { cwd, env: { TAILRACE_DATA_DIR: at('plain') } };
    expect(await runCli(['sample', '--rows', '100'], live)).toMatchObject({ code: 0 });
    const service = startCli(['serve'], { ...live, env: { ...live.env, TAILRACE_PORT: '0' } });
    await service.waitFor(/ready at/);
    expect(await runCli(['backup', at('shipped')], live)).toMatchObject({ code: 0 });
    expect(await listDefinitions(at('shipped'))).toEqual(await listDefinitions('.', ''));
    service.child.kill('SIGTERM');
    await service.ended;
    expect(await runCli(['backup', at('unserved')], live)).toMatchObject({ code: 0 });
    expect(await listDefinitions(at('unserved'))).toEqual(await listDefinitions('.', ''));
    const restore = async (backup: string, name: string) =>
      await runCli(['restore', at(backup)], { cwd: other, env: { TAILRACE_DATA_DIR: at(name) } });
    expect(await restore('shipped', 'r1')).toMatchObject({ code: 0 });
    expect(await readdir(other)).toEqual([]); // it serves the same without

    await cp('sources', join(cwd, 'sources'), { recursive: true });
    await appendFile(join(cwd, 'sources', `${EDGE}.yaml`), '# mine\n');
    expect(await runCli(['backup', at('mine')], live)).toMatchObject({ code: 0 });
    expect(await restore('mine', 'r2')).toMatchObject({ code: 0 });
    expect(await readdir(other)).toEqual(['sources']);
    expect(await readFile(join(other, 'sources', `${EDGE}.yaml`), 'utf8')).toContain('# mine');
  });

  test('refuses targets, backups and data directories that will not do, and changes none of them', async () => {
    await mkdir(at('full'));
    await writeFile(join(at('full'), 'mine'), '');
    const into = async (...args: string[]) => await runCli(['backup', ...args], { env: stored });
    expect(await into(at('full'))).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty') });
    expect(await into(join(at('stored'), 'b'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('lies in the data directory'),
    });
    expect(existsSync(join(at('stored'), 'b'))).toBe(false);
    expect(await into(at('new'), '--base', at('full'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no manifest.json'),
    });
    expect(existsSync(at('new'))).toBe(false); // it was made for this, and is gone again

    const restore = async (dir: string, name: string) =>
      await runCli(['restore', dir], { env: { ...stored, TAILRACE_DATA_DIR: at(name) } });
    expect(await restore(at('saved'), 'stored')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not empty \(.*set TAILRACE_DATA_DIR to an empty folder/),
    });
    for (const [name, spoil, message] of SPOILT) {
      await cp(at('saved'), at(name), { recursive: true });
      await spoil(at(name));
      const refused = await restore(at(name), `${name}-data`);
      expect(refused, name).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
      const left = await readdir(at(`${name}-data`)).catch(() => []);
      expect(left.filter((one) => !/^(lock\.sqlite.*|owner\.txt)$/.test(one))).toEqual([]);
    }
    // Into the same folder, once the backup is whole.
    expect(await restore(at('saved'), 'damaged-data')).toMatchObject({ code: 0 });
  });

  test('restores into the home directory of its user, which has hidden files and the cache of compiled code', async () => {
    const home = at('home');
    await mkdir(join(home, '.ssh'), { recursive: true });
    await writeFile(join(home, '.profile'), 'mine');
    const cached = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: '' };
    const inHome = { ...stored, ...cached, HOME: home, TAILRACE_DATA_DIR: home };
    // A restore that fails removes only what it has written.
    const [part = ''] = await listParts(at('saved'));
    await cp(at('saved'), at('torn-home'), { recursive: true });
    await rm(join(at('torn-home'), part), { recursive: true });
    expect(await runCli(['restore', at('torn-home')], { env: inHome })).toMatchObject({ code: 1 });
    expect(await readdir(join(home, '.cache'))).toEqual(['tailrace']);
    expect(await runCli(['restore', at('saved')], { env: inHome })).toMatchObject({ code: 0, stderr: '' });
    expect(await readdir(home)).toEqual(expect.arrayContaining(['.cache', '.profile', '.ssh']));
    expect(await readFile(join(home, '.profile'), 'utf8')).toBe('mine');
    const service = await startServe(inHome);
    expect((await readRows(service.url)).size).toBeGreaterThan(0);
    expect((await service.stop()).code).toBe(0);
  });

  test('restores events and keys, and names definitions that it cannot write', async () => {
    await writeFile(at('file'), '');
    const dirs = { TAILRACE_ENDPOINTS_DIR: at('file/endpoints'), TAILRACE_SOURCES_DIR: at('new-sources') };
    const restored = await runCli(['restore', at('saved')], {
      env: { ...dirs, TAILRACE_DATA_DIR: at('closed') },
    });
    expect(restored).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/3,000 events[\s\S]*new-sources: restored\.\n$/),
      stderr: expect.stringMatching(
        /file\/endpoints cannot be written[\s\S]*copy [^ ]*saved\/definitions\/endpoints there/,
      ),
    });
    expect(existsSync(join(at('new-sources'), `${EDGE}.yaml`))).toBe(true);
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
});

type Spoil = readonly [name: string, spoil: (dir: string) => Promise<void>, message: RegExp];

const SPOILT: readonly Spoil[] = [
  ['unfinished', async (dir) => await rm(join(dir, 'manifest.json')), /an unfinished one/],
  [
    'edited',
    async (dir) => {
      const file = join(dir, 'manifest.json');
      await writeFile(file, (await readFile(file, 'utf8')).replace('"rows": ', '"rows": 1'));
    },
    /manifest\.json is damaged/,
  ],
  [
    'damaged',
    async (dir) => {
      const [part = ''] = await listParts(dir);
      const file = join(dir, part, 'data.bin');
      const bytes = await readFile(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      await writeFile(file, bytes);
    },
    /is damaged: .*events.* differs from its checksum in the manifest/,
  ],
  [
    'torn',
    async (dir) => await rm(join(dir, (await listParts(dir))[0] ?? ''), { recursive: true }),
    /is incomplete/,
  ],
  [
    'definition',
    async (dir) => await appendFile(join(dir, 'definitions/sources', `${EDGE}.yaml`), '\n# more'),
    /is damaged: .*yaml differs from its checksum/,
  ],
];

async function listDefinitions(dir: string, within = 'definitions'): Promise<string[]> {
  const kinds = ['endpoints', 'sources'].map(async (kind) => await readdir(join(dir, within, kind)));
  return (await Promise.all(kinds)).flat().toSorted();
}

/** Folders of a backup's parts, relative to it. */
async function listParts(backup: string): Promise<string[]> {
  const parts: string[] = [];
  for (const table of await readdir(join(backup, 'events')))
    for (const part of await readdir(join(backup, 'events', table))) parts.push(join('events', table, part));
  return parts;
}

async function countLinks(part: string): Promise<number> {
  return (await stat(join(part, 'checksums.txt'))).nlink;
}
