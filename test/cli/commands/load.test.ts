import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectExit } from '../../support/cli.ts';
import { edgeEvents, toNdjson } from '../../support/events.ts';
import { EDGE, idsOf } from '../../support/http.ts';
import { runProgram } from '../../support/program.ts';
import { newProject, ownFolder, PUBLIC_KEY, shareService } from '../../support/service.ts';

const folder = await ownFolder();
const service = await shareService();
const file = (name: string) => join(folder.path, name);
const env = { TAILRACE_KEY: PUBLIC_KEY };
const load = (files: readonly string[], stdin = '') =>
  runProgram(['load', EDGE, ...files, '--url', service.url], env, { stdin });

const PROJECT = newProject();
const [good = '', last = ''] = toNdjson(edgeEvents(2, PROJECT)).split('\n');
const OLD = '{"timestamp":"1901-01-01T00:00:00Z"}';
const TIMELESS = '{"timestamp":"yesterday"}';
const LONG = `{"id":"${'x'.repeat(2_000_000)}"}`;
/** Of which the first and the last but one are events. */
const LINES = [good, 'no JSON', '[1,2]', '', TIMELESS, OLD, LONG, last, '{"id":"half","ti'];
const FAULTS = [
  '2: is not valid JSON',
  '3: is not a JSON object',
  expect.stringMatching(/^5: has a timestamp that is neither/),
  expect.stringMatching(/^6: is older than the \d+ days/),
  expect.stringMatching(/^7: is longer than \d+ bytes$/),
  '9: is not valid JSON',
];
describe('tailrace load', () => {
  test('keeps the good lines and reports each bad one with its number and reason', async () => {
    await writeFile(file('bad.ndjson'), LINES.join('\n'));
    const done = await load([file('bad.ndjson')]);
    const told = done.stderr.trimEnd().split('\n');
    expect(told.map((line) => line.replace(`${file('bad.ndjson')}:`, ''))).toEqual(FAULTS);
    expectExit(done, 1, /2 events, .* 6 rejected/, 'stdout');
    expect(await idsOf(service.core, PROJECT)).toEqual(['e0', 'e1']);
  });

  test('looks at every file before it stores anything, and knows a broken archive', async () => {
    await writeFile(file('a.ndjson'), toNdjson(edgeEvents(1)));
    const none = await load([file('a.ndjson'), file('none.ndjson'), folder.path]);
    expect([none.code, none.stdout, none.stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [expect.stringContaining('none.ndjson: cannot be read'), expect.stringContaining('is a folder')],
    ]);
    const whole = zstdCompressSync(toNdjson(edgeEvents(5)));
    for (const [name, bytes, fault] of [
      ['cut.ndjson.gz', gzipSync(toNdjson(edgeEvents(5))).subarray(0, 60), /is not whole gzip/],
      [
        'more.ndjson.zst',
        Buffer.concat([whole, whole, Buffer.from('x')]),
        /is not whole zstd .* up to line 10,/,
      ],
    ] as const) {
      await writeFile(file(name), bytes);
      expectExit(await load([file(name)]), 1, fault);
    }
  });

  test('sends files, compressed ones and standard input', async () => {
    const project = newProject();
    const events = edgeEvents(2, project);
    await writeFile(file('sent.ndjson.gz'), gzipSync(toNdjson(events.slice(0, 1))));
    const done = await load([file('sent.ndjson.gz'), '-'], toNdjson(events.slice(1)));
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(await idsOf(service.core, project)).toEqual(['e0', 'e1']);
  });

  test('without a service on the data directory says how to start one', async () => {
    expectExit(
      await runProgram(['load', EDGE, '-'], { TAILRACE_DATA_DIR: file('none') }, { stdin: good }),
      1,
      /no service runs on data directory .*; --url names one that runs elsewhere\n$/,
    );
  });

  test('counts what the rules of a source would leave out, and stores nothing', async () => {
    expectExit(
      await runProgram(['load', EDGE, '-', '--dry-run'], {}, { stdin: LINES.slice(0, 4).join('\n') }),
      1,
      /^-: 1 event, .* 2 rejected\n$/,
      'stdout',
    );
  });
});
