import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { edgeEvents, toNdjson } from '../../support/events.ts';
import { EDGE, idsOf } from '../../support/ingest.ts';
import { runProgram } from '../../support/program.ts';
import { PUBLIC_KEY, temporaryFolder } from '../../support/service.ts';
import { newProject, shareService } from '../../support/shared-service.ts';

const folder = await temporaryFolder();
const service = await shareService();
afterAll(folder.remove);
const file = (name: string) => join(folder.path, name);
const KEY = { TAILRACE_KEY: PUBLIC_KEY };
/** Sends files to the shared service. */
const send = (files: readonly string[], { env = KEY as Record<string, string>, stdin = '' } = {}) =>
  runProgram(['load', EDGE, ...files, '--url', service.url], env, { stdin });

const definitions = await copyFewDefinitions(folder.path);
let stores = 0;
const newStore = () => ({ ...definitions, TAILRACE_DATA_DIR: file(`data-${++stores}`) });

async function idsIn(env: Record<string, string>): Promise<string[]> {
  const whole = { ...env, TAILRACE_ENDPOINTS_DIR: 'endpoints', TAILRACE_SOURCES_DIR: 'sources' };
  const { stdout } = await runProgram(['query', 'logs.all', '-p', 'project=p1'], whole);
  return (JSON.parse(stdout) as { result: { id: string }[] }).result.map(({ id }) => id).sort();
}

const [first = {}, second = {}, third = {}] = edgeEvents(3);
await writeFile(file('a.ndjson'), toNdjson([first]));
await writeFile(file('b.ndjson.gz'), gzipSync(toNdjson([second])));

/** Lines of a file with faults, of which the first and the last but one are events. */
function faultyLines(project: string): string {
  const [good, last] = toNdjson(edgeEvents(2, project)).split('\n');
  const old = '{"timestamp":"2001-01-01T00:00:00Z"}';
  const long = `{"id":"${'x'.repeat(2_000_000)}"}`;
  return [
    good,
    'no JSON',
    '[1,2]',
    '',
    '{"timestamp":"yesterday"}',
    old,
    long,
    last,
    '{"id":"half","ti',
  ].join('\n');
}
const FAULTS = [
  '2: is not valid JSON',
  '3: is not a JSON object',
  expect.stringMatching(/^5: has a timestamp that is neither/),
  expect.stringMatching(/^6: is older than the 90 days/),
  expect.stringMatching(/^7: is longer than \d+ bytes$/),
  '9: is not valid JSON',
];
const faultsOf = (stderr: string, path: string) =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(`${path}:`, ''));

describe('tailrace load', () => {
  test('stores .ndjson, .ndjson.gz and standard input, several at once, and a last line without its end', async () => {
    const env = newStore();
    const stdin = toNdjson([third]).trimEnd();
    const done = await runProgram(['load', EDGE, file('a.ndjson'), file('b.ndjson.gz'), '-'], env, { stdin });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout.match(/: 1 event, .* 0 rejected$/gm)).toHaveLength(3);
    expect(await idsIn(env)).toEqual(['e0', 'e1', 'e2']);
  });

  test('keeps the good lines and reports each bad one with its number and reason', async () => {
    const env = newStore();
    await writeFile(file('bad.ndjson'), faultyLines('p1'));
    const done = await runProgram(['load', EDGE, file('bad.ndjson')], env);
    expect(faultsOf(done.stderr, file('bad.ndjson'))).toEqual(FAULTS);
    expect([done.code, done.stdout]).toEqual([1, expect.stringMatching(/2 events, .* 6 rejected/)]);
    expect(await idsIn(env)).toEqual(['e0', 'e1']);
  });

  test('looks at every file before it stores anything, and knows a broken archive', async () => {
    const env = newStore();
    const none = await runProgram(['load', EDGE, file('a.ndjson'), file('none.ndjson'), folder.path], env);
    expect([none.code, none.stdout, none.stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [expect.stringContaining('none.ndjson: cannot be read'), expect.stringContaining('is a folder')],
    ]);
    await writeFile(file('cut.ndjson.gz'), gzipSync(toNdjson(edgeEvents(5))).subarray(0, 60));
    const cut = await runProgram(['load', EDGE, file('cut.ndjson.gz')], env);
    expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining('is not whole gzip')]);
    const source = await runProgram(['load', 'no.such.source', '-'], env);
    expect([source.code, source.stderr]).toEqual([
      1,
      expect.stringMatching(/"no.such.source"; there are cloudflare/),
    ]);
  });

  test('warns once of events that belong to no project, unless a default names it', async () => {
    const stdin = '{"id":"a"}\n{"id":"b"}\n{"id":"c","project":"p"}\n';
    const done = await runProgram(['load', EDGE, '-'], newStore(), { stdin });
    const warning = /^tailrace: 2 events stored without a project.*TAILRACE_DEFAULT_PROJECT$/gm;
    expect([done.code, done.stderr.match(warning)?.length]).toEqual([0, 1]);
    const named = { ...newStore(), TAILRACE_DEFAULT_PROJECT: 'p' };
    expect((await runProgram(['load', EDGE, '-'], named, { stdin })).stderr).not.toContain(
      'without a project',
    );
  });
});

describe('tailrace load --url', () => {
  test('sends files, compressed ones and standard input to the service', async () => {
    const project = newProject();
    const events = edgeEvents(2, project);
    await writeFile(file('sent.ndjson.gz'), gzipSync(toNdjson(events.slice(0, 1))));
    const done = await send([file('sent.ndjson.gz'), '-'], { stdin: toNdjson(events.slice(1)) });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(await idsOf(service.core, project)).toEqual(['e0', 'e1']);
  });

  test('reports each bad line with its number in the file, and the reason', async () => {
    const project = newProject();
    await writeFile(file('bad-sent.ndjson'), faultyLines(project));
    const done = await send([file('bad-sent.ndjson')]);
    const faults = FAULTS.filter((_, i) => i !== 3); // the sources of the tests keep old events
    expect(faultsOf(done.stderr, file('bad-sent.ndjson'))).toEqual(expect.arrayContaining(faults));
    expect(await idsOf(service.core, project)).toEqual(['e0', 'e1']);
  });

  test.each([
    ['a wrong key', EDGE, { TAILRACE_KEY: 'nobody' }, /rejects the events: 401 the key is not known$/],
    ['no key', EDGE, {}, /--url needs a key: give --key or set TAILRACE_KEY$/],
    ['an unknown source', 'no.such', KEY, /rejects the events: 404 no source has .*"no\.such"; there are/],
  ])('%s is one line and exit 1', async (_, source, env, message) => {
    const stdin = toNdjson(edgeEvents(1));
    const done = await runProgram(['load', source, '-', '--url', service.url], { ...env }, { stdin });
    expect([done.code, done.stdout, done.stderr.trimEnd()]).toEqual([1, '', expect.stringMatching(message)]);
    expect(done.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('--key wins over the environment; an address that is none is a misuse', async () => {
    const project = newProject();
    const stdin = toNdjson(edgeEvents(1, project));
    const done = await send(['-', '--key', PUBLIC_KEY], { env: { TAILRACE_KEY: 'nobody' }, stdin });
    expect([done.code, await idsOf(service.core, project)]).toEqual([0, ['e0']]);
    expect((await runProgram(['load', EDGE, '-', '--url', 'localhost:4000'], KEY)).code).toBe(2);
  });
});

describe('rules of a source', () => {
  test('are applied by a load, and shown by a dry run, which stores nothing', async () => {
    const sources = file('ruled');
    await cp('sources', sources, { recursive: true });
    const rules =
      'drop: level:debug\nsample: { keep: 0, unless: "level:*" }\nredact: [{ field: metadata.password }]\n';
    await appendFile(join(sources, 'logs.yaml'), rules);
    const env = { ...newStore(), TAILRACE_SOURCES_DIR: sources };
    const event = (message: string, metadata: object) => JSON.stringify({ event_message: message, metadata });
    const hidden = { level: 'info', password: 'hidden' };
    const lines = [
      event('a', { level: 'debug' }),
      event('b', hidden),
      event('c', {}),
      'no JSON',
      event('d', { level: 'error' }),
    ];
    await writeFile(file('ruled.ndjson'), lines.join('\n'));
    const counts = /: 2 events, .*, 1 rejected, 1 by drop, 1 by sample, 1 by redact\n$/;
    const dry = await runProgram(['load', 'logs', file('ruled.ndjson'), '--dry-run'], env);
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringMatching(counts)]);
    expect(dry.stderr).toContain(`line 2 would be "b" {"level":"info","password":"[redacted]"}`);
    expect(dry.stdout + dry.stderr).not.toContain('hidden');
    expect((await runProgram(['load', 'logs', file('ruled.ndjson')], env)).stdout).toMatch(counts);
    const remote = await runProgram(
      ['load', 'logs', file('ruled.ndjson'), '--dry-run', '--url', service.url],
      env,
    );
    expect([remote.code, remote.stderr]).toEqual([1, expect.stringContaining('leave out --url')]);
  });
});
