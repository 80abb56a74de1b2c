import { readdir, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { endLeftProcesses, runCli, startCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { edgeEvents, toNdjson } from '../support/events.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const file = (name: string) => join(folder.path, name);
const serviceEnv = (dataDir: string) => ({
  TAILRACE_DATA_DIR: file(dataDir),
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
});
let service: Awaited<ReturnType<typeof startServe>>;
const started: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await startServe(serviceEnv('data'));
});
afterEach(async () => {
  for (const stop of started.splice(0)) await stop();
});
afterAll(async () => {
  await service.stop();
  await endLeftProcesses();
  await folder.remove();
});

const SOURCE = 'cloudflare.logs.prod';
const KEY = { TAILRACE_KEY: PUBLIC_KEY };
let projects = 0;
/** A project of its own for each test. */
const newProject = () => `sent-${++projects}`;

const args = (url: string, ...files: string[]) => ['load', SOURCE, ...files, '--url', url];
const load = (url: string, files: string[], stdin = '', env: Record<string, string> = KEY) =>
  runCli(args(url, ...files), { env, stdin });

async function idsOf(project: string, url = service.url): Promise<string[]> {
  const { body } = await get(url, `${QUERY_PATH}/logs.all?project=${project}`);
  return body.result.map((row) => String(row['id'])).sort();
}

/**
 * A door to the service that can be shut: connections are then refused, and those that are open are cut.
 *
 * @param answersLost so many answers of the service are cut off before they reach the client
 */
async function startDoor(target: string, answersLost = 0) {
  const { port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(targetPort), '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }
    client.pipe(upstream);
    upstream.once('data', (first: Buffer) => {
      if (lost++ < answersLost) client.destroy();
      else client.write(first);
      upstream.pipe(client);
    });
  });
  const open = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await open(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, open: () => open(port), shut };
}

describe('load --url', () => {
  test('sends files, compressed ones and standard input to the service', async () => {
    const project = newProject();
    const [first = {}, second = {}, third = {}] = edgeEvents(3, project);
    await writeFile(file('a.ndjson'), toNdjson([first]));
    await writeFile(file('b.ndjson.gz'), gzipSync(toNdjson([second])));
    const done = await load(service.url, [file('a.ndjson'), file('b.ndjson.gz'), '-'], toNdjson([third]));
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout.match(/: 1 event, .* 0 rejected$/gm)).toHaveLength(3);
    expect(await idsOf(project)).toEqual(['e0', 'e1', 'e2']);
  });

  test('tells of each bad line its number in the file and the reason', async () => {
    const project = newProject();
    const good = (id: number) => JSON.stringify({ id: `${id}`, project });
    const lines = Array.from({ length: 2_500 }, (_, i) => good(i + 1));
    lines[1] = '';
    lines[2] = 'nonsense';
    lines[3] = '\u00a0';
    lines[4] = '[1]';
    lines[1_999] = '{"timestamp":"yesterday"}';
    lines[2_499] = '{"timestamp":"2001-01-01T00:00:00Z"}';
    await writeFile(file('bad.ndjson'), `${lines.join('\n')}\n`);
    const done = await load(service.url, [file('bad.ndjson')]);
    const told = done.stderr.trimEnd().split('\n');
    expect(told.map((line) => line.replace(`${file('bad.ndjson')}:`, ''))).toEqual([
      '3: is not valid JSON',
      '4: is not valid JSON',
      '5: is not a JSON object',
      expect.stringMatching(/^2000: has a timestamp that is neither/),
      expect.stringMatching(/^2500: is older than the 90 days/),
    ]);
    expect([done.code, done.stdout]).toEqual([1, expect.stringMatching(/: 2,494 events, .* 5 rejected\n$/)]);
  });

  test('warns once of events that belong to no project, as the service reports them', async () => {
    const lines = `{"id":"a"}\n{"id":"b"}\nnonsense\n{"id":"c","project":"${newProject()}"}\n`;
    await writeFile(file('unowned.ndjson'), lines);
    const done = await load(service.url, [file('unowned.ndjson')]);
    expect(done.stderr.match(/^tailrace: .*$/gm)).toEqual([
      expect.stringMatching(/2 events stored without a project.*TAILRACE_DEFAULT_PROJECT$/),
    ]);
    const named = { ...KEY, TAILRACE_DEFAULT_PROJECT: newProject() };
    expect((await load(service.url, [file('unowned.ndjson')], '', named)).stderr).not.toContain('no project');
  });

  test('takes lines that repeat themselves as a bomb would', async () => {
    const project = newProject();
    const line = JSON.stringify({ project, event_message: 'x'.repeat(3_000) });
    await writeFile(file('same.ndjson'), `${line}\n`.repeat(1_500));
    const done = await load(service.url, [file('same.ndjson')]);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('1,500 events');
  });

  test.each([
    ['a wrong key', SOURCE, { TAILRACE_KEY: 'nobody' }, /rejects the events: 401 the key is not known$/],
    ['no key', SOURCE, {}, /--url needs a key: give --key or set TAILRACE_KEY$/],
    ['an unknown source', 'no.such', KEY, /rejects the events: 404 no source has .*"no\.such"; there are/],
  ])('%s is one line and exit 1', async (_, source, env, message) => {
    const done = await runCli(['load', source, '-', '--url', service.url], {
      env,
      stdin: toNdjson(edgeEvents(1)),
    });
    expect([done.code, done.stdout]).toEqual([1, '']);
    expect(done.stderr.trimEnd()).toMatch(message);
    expect(done.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('--key wins over the environment', async () => {
    const project = newProject();
    const done = await runCli([...args(service.url, '-'), '--key', PUBLIC_KEY], {
      env: { TAILRACE_KEY: 'nobody' },
      stdin: toNdjson(edgeEvents(1, project)),
    });
    expect([done.code, await idsOf(project)]).toEqual([0, ['e0']]);
  });

  test('--url that is no address is a misuse', async () => {
    for (const url of ['localhost:4000', 'ftp://a', '']) expect((await load(url, ['-'])).code).toBe(2);
  });
});

describe('a service that is away', () => {
  test('is tried again, and what was sent is stored once', async () => {
    const project = newProject();
    const door = await startDoor(service.url);
    started.push(door.shut);
    await door.shut();
    const process = startCli(args(door.url, '-'), { env: KEY, stdin: toNdjson(edgeEvents(5, project)) });
    await process.waitFor(/: it cannot be reached: .*ECONNREFUSED.*; trying again in 1 s/);
    await door.open();
    const done = await process.ended;
    expect([done.code, await idsOf(project)]).toEqual([0, ['e0', 'e1', 'e2', 'e3', 'e4']]);
  });

  test('when only its answers are lost, is tried again and stores once', async () => {
    const project = newProject();
    const door = await startDoor(service.url, 2);
    started.push(door.shut);
    const done = await load(door.url, ['-'], toNdjson(edgeEvents(5, project)));
    expect([done.code, done.stderr.match(/trying again/g)?.length]).toEqual([0, 2]);
    expect(await idsOf(project)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
  });

  test('SIGTERM ends the tries: one line says what is not stored, exit 3', async () => {
    const door = await startDoor(service.url);
    await door.shut();
    const process = startCli(args(door.url, '-'), { env: KEY, stdin: toNdjson(edgeEvents(5)) });
    await process.waitFor(/trying again/);
    process.child.kill('SIGTERM');
    const { code, stderr } = await process.ended;
    expect([code, stderr]).toEqual([3, expect.stringMatching(/line 1 and those after it are not stored\n$/)]);
    expect(stderr).not.toContain('    at ');
  });
});

describe('standard input that stays open', () => {
  test('is sent as it comes', async () => {
    const project = newProject();
    const process = startCli(args(service.url, '-'), { env: KEY });
    const [first = {}, second = {}] = edgeEvents(2, project);
    for (const [event, ids] of [
      [first, ['e0']],
      [second, ['e0', 'e1']],
    ] as const) {
      process.child.stdin?.write(toNdjson([event]));
      await vi.waitFor(async () => expect(await idsOf(project)).toEqual(ids), { timeout: 60_000 });
    }
    process.child.stdin?.end();
    expect((await process.ended).code).toBe(0);
  });

  test('is not read on when the service refuses what has come', async () => {
    const process = startCli(args(service.url, '-'), { env: { TAILRACE_KEY: 'nobody' } });
    process.child.stdin?.write(toNdjson(edgeEvents(1)));
    const { code, stderr } = await process.ended; // standard input is open to the end
    expect([code, stderr]).toEqual([1, expect.stringMatching(/401 the key is not known\n$/)]);
  });

  test.skipIf(ON_SERVER)('is stored as it comes where there is no service', async () => {
    const env = { TAILRACE_DATA_DIR: file('own') };
    const process = startCli(['load', SOURCE, '-'], { env });
    process.child.stdin?.write(toNdjson(edgeEvents(2, 'own')));
    // Nobody else may open the store now, so its files tell: the only part of the table is the commit.
    await vi.waitFor(
      async () => {
        const names = await readdir(join(file('own'), 'store'), { recursive: true });
        expect(names.some((name) => /\/\d{8}_\d+_\d+_\d+\/count\.txt$/.test(name))).toBe(true);
      },
      { timeout: 60_000, interval: 50 },
    );
    process.child.stdin?.end();
    expect((await process.ended).code).toBe(0);
    const { stdout } = await runCli(['query', 'logs.all', '-p', 'project=own'], { env });
    expect(stdout.match(/"id"/g)).toHaveLength(2);
  });
});
