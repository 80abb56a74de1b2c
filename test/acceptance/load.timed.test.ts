import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { endLeftProcesses, runCli, runShell, startCli } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { edgeEvents, toNdjson, writeManyEvents } from '../support/events.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const file = (name: string) => join(folder.path, name);
afterEach(endLeftProcesses);
afterAll(folder.remove);

// More than a pipe holds, so that it is still full when the first batch is stored; and more than a second's work.
const LARGE = 60_000;
const MANY = 600_000;

beforeAll(async () => {
  await writeManyEvents(file('large.ndjson'), LARGE);
  await writeManyEvents(file('many.ndjson'), MANY);
});

/** Standard error without the progress that a slow machine has time to tell. */
const complaintsOf = (stderr: string) => stderr.replaceAll(/^.* events, .*\/s, .* rejected\n/gm, '');

let stores = 0;
const newStore = () => ({ TAILRACE_DATA_DIR: file(`data-${++stores}`) });
const load = (env: Record<string, string>, files: string[], stdin = '') =>
  runCli(['load', 'cloudflare.logs.prod', ...files], { env, stdin });

async function idsOf(env: Record<string, string>, project = 'p1'): Promise<string[]> {
  const { stdout } = await runCli(['query', 'logs.all', '-p', `project=${project}`], { env });
  const { result } = JSON.parse(stdout) as { result: { id: string }[] };
  return result.map((row) => row.id).sort();
}

/** Every event of a project, beyond the 100 that logs.all returns. */
async function countRest(env: Record<string, string>, project: string): Promise<number> {
  const { stdout } = await runCli(
    ['query', 'usage.api-counts', '-p', `project=^${project}`, '-p', 'interval=daily'],
    {
      env,
    },
  );
  const { result } = JSON.parse(stdout) as { result: { total_rest_requests: number }[] };
  return result.reduce((sum, row) => sum + row.total_rest_requests, 0);
}

test('stores .ndjson, .ndjson.gz and standard input, several at once', async () => {
  const env = newStore();
  const events = edgeEvents(3).map((event) => [event]);
  const [plain = [], zipped = [], piped = []] = events;
  await writeFile(file('a.ndjson'), toNdjson(plain));
  await writeFile(file('b.ndjson.gz'), gzipSync(toNdjson(zipped)));
  const done = await load(env, [file('a.ndjson'), file('b.ndjson.gz'), '-'], toNdjson(piped));
  expect([done.code, complaintsOf(done.stderr)]).toEqual([0, '']);
  expect(done.stdout.match(/: 1 event, .* 0 rejected$/gm)).toHaveLength(3);
  expect(await idsOf(env)).toEqual(['e0', 'e1', 'e2']);
});

test('takes all of a standard input that is still coming in while it stores, as a pipe and as a file', async () => {
  for (const how of [
    'cat "$1" | "$0" "$2" load cloudflare.logs.prod -',
    '"$0" "$2" load cloudflare.logs.prod - < "$1"',
  ]) {
    const env = newStore();
    const done = await runShell(how, [file('large.ndjson')], env);
    expect([done.code, complaintsOf(done.stderr)]).toEqual([0, '']);
    expect(await countRest(env, 'many')).toBe(LARGE);
  }
});

test('leaves a standard input alone that it was not asked to read', async () => {
  const env = newStore();
  await writeFile(file('one.ndjson'), toNdjson(edgeEvents(1)));
  const done = await runShell(
    '"$0" "$2" load cloudflare.logs.prod "$3" < "$1"',
    [file('large.ndjson'), file('one.ndjson')],
    env,
  );
  expect([done.code, complaintsOf(done.stderr)]).toEqual([0, '']);
  expect(await idsOf(env)).toEqual(['e0']);
});

test('keeps the good lines and tells of each bad one with its number and reason', async () => {
  const env = newStore();
  const [first, second] = toNdjson(edgeEvents(2)).split('\n');
  const lines = [
    first,
    'not json',
    '[1,2]',
    '',
    '{"timestamp":"yesterday"}',
    '{"timestamp":"2001-01-01T00:00:00Z"}',
    `{"id":"${'x'.repeat(2_000_000)}"}`,
    second,
    '{"id":"half","timestamp":"2026-', // the writer was stopped in the middle of a line
  ];
  await writeFile(file('bad.ndjson'), lines.join('\n'));
  const done = await load(env, [file('bad.ndjson')]);
  expect(done.code).toBe(1);
  const told = done.stderr.trimEnd().split('\n');
  expect(told.map((line) => line.replace(`${file('bad.ndjson')}:`, ''))).toEqual([
    expect.stringMatching(/^2: is not valid JSON$/),
    expect.stringMatching(/^3: is not a JSON object$/),
    expect.stringMatching(/^5: has a timestamp that is neither/),
    expect.stringMatching(/^6: is older than the 90 days/),
    expect.stringMatching(/^7: is longer than \d+ bytes$/),
    expect.stringMatching(/^9: is not valid JSON$/),
  ]);
  expect(done.stdout).toContain('2 events');
  expect(done.stdout).toContain('6 rejected');
  expect(await idsOf(env)).toEqual(['e0', 'e1']);
});

test('stores the rest when nobody reads its reports any more', async () => {
  const env = newStore();
  const bad = 'not json\n'.repeat(20_000); // far more reports than a pipe holds
  await writeFile(file('reports.ndjson'), `${bad}${toNdjson(edgeEvents(1))}`);
  await writeFile(file('after.ndjson'), toNdjson([{ ...edgeEvents(1)[0], id: 'e1' }]));
  const files = [file('reports.ndjson'), file('after.ndjson')];
  const done = await runShell(
    '{ "$0" "$2" load cloudflare.logs.prod "$1" "$3"; echo "exit $?" >&3; } 2>&1 >&1 3>"$1.exit" | head -1',
    files,
    env,
  );
  expect(done.stdout).toContain('reports.ndjson:1: is not valid JSON');
  expect(await readFile(`${files[0]}.exit`, 'utf8')).toBe('exit 1\n');
  expect(await idsOf(env)).toEqual(['e0', 'e1']);
});

test('warns once of events that belong to no project, unless a default names it', async () => {
  const lines = '{"id":"a"}\n{"id":"b"}\n{"id":"c","project":"p"}\n';
  const done = await load(newStore(), ['-'], lines);
  expect(done.code).toBe(0);
  expect(
    done.stderr.match(/^tailrace: 2 events stored without a project.*TAILRACE_DEFAULT_PROJECT$/gm),
  ).toHaveLength(1);
  const named = await load({ ...newStore(), TAILRACE_DEFAULT_PROJECT: 'p' }, ['-'], lines);
  expect(named.stderr).not.toContain('no project');
});

test('takes a whole last line without a newline', async () => {
  const env = newStore();
  expect((await load(env, ['-'], toNdjson(edgeEvents(2)).trimEnd())).code).toBe(0);
  expect(await idsOf(env)).toEqual(['e0', 'e1']);
});

test('looks at every file before it stores anything, and knows a broken archive', async () => {
  const env = newStore();
  await writeFile(file('good.ndjson'), toNdjson(edgeEvents(1)));
  const none = await load(env, [file('good.ndjson'), file('none.ndjson'), folder.path]);
  expect([none.code, none.stdout]).toEqual([1, '']);
  expect(none.stderr.trimEnd().split('\n')).toEqual([
    expect.stringContaining('none.ndjson: cannot be read'),
    expect.stringContaining('is a folder'),
  ]);
  await writeFile(file('cut.ndjson.gz'), gzipSync(toNdjson(edgeEvents(5))).subarray(0, 60));
  const cut = await load(env, [file('cut.ndjson.gz')]);
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining('is not whole gzip')]);
  // Far more than Node's zlib holds back, which gives nothing of its last buffer when a fault follows.
  const many = gzipSync(toNdjson(Array.from({ length: 2_000 }, () => edgeEvents(1, 'gz')[0] ?? {})));
  await writeFile(file('followed.ndjson.gz'), Buffer.concat([many, Buffer.from('more')]));
  const followed = await load(env, [file('followed.ndjson.gz')]);
  const [, line = '', stored = ''] =
    /it was read up to line (\d+), ([\d,]+) events? stored/.exec(followed.stderr) ?? [];
  expect([followed.code, Number(line)]).toEqual([1, Number(stored.replace(',', ''))]);
  expect(Number(line)).toBeGreaterThan(1_500);
  const { stdout } = await runCli(
    ['query', 'usage.api-counts', '-p', 'project=//gz', '-p', 'interval=daily'],
    { env },
  );
  expect(stdout).toContain(`"total_rest_requests":${line},`);
  const source = await runCli(['load', 'no.such.source', '-'], { env });
  expect([source.code, source.stderr]).toEqual([
    1,
    expect.stringMatching(/"no.such.source"; there are cloudflare/),
  ]);
});

/** Starts a load that takes seconds; resolves when a first batch is in the store. */
async function startLongLoad(env: Record<string, string>) {
  const process = startCli(['load', 'cloudflare.logs.prod', file('many.ndjson')], { env });
  await vi.waitFor(async () => expect(await hasBatch(env)).toBe(true), { timeout: 60_000, interval: 20 });
  return process;
}

/** Whether a batch was acknowledged: a part of the embedded table is on the disk, or a server has rows. */
async function hasBatch(env: Record<string, string>): Promise<boolean> {
  if (ON_SERVER) return (await countRest(env, 'many')) > 0;
  const names = await readdir(join(env['TAILRACE_DATA_DIR'] ?? '', 'store'), { recursive: true });
  return names.some((name) => /\/\d{8}_\d+_\d+_\d+\/count\.txt$/.test(name));
}

test('a file that cannot be read is told in one line', async () => {
  const { code, stderr } = await load(newStore(), ['/proc/self/mem']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^tailrace: \/proc\/self\/mem: cannot be read \(EIO[^\n]*\); it was read up to line 0, 0 events stored\n$/,
    ),
  ]);
});

test('SIGTERM stops a load: what was read is stored, the message says how far it came, exit 3', async () => {
  const env = newStore();
  const process = await startLongLoad(env);
  process.child.kill('SIGTERM');
  const { code, stderr } = await process.ended;
  const [, line = ''] =
    /stopped by SIGTERM after line (\d+) of \S+; what was read is stored/.exec(stderr) ?? [];
  expect([code, stderr]).toEqual([3, expect.not.stringContaining('    at ')]);
  expect(Number(line)).toBeLessThan(MANY);
  expect(await countRest(env, 'many')).toBe(Number(line));
});

test('kill -9 during a load costs no batch that was stored, and the store opens again', async () => {
  const env = newStore();
  const process = await startLongLoad(env);
  process.child.kill('SIGKILL');
  expect((await process.ended).code).toBe('SIGKILL');
  const stored = await countRest(env, 'many');
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(MANY);
  expect((await load(env, ['-'], toNdjson(edgeEvents(1)))).code).toBe(0);
  expect(await countRest(env, 'many')).toBe(stored);
});
