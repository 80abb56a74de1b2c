import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createFilterCounts } from '../../src/ingest/filter/filter.ts';
import { loadEvents } from '../../src/ingest/load.ts';
import { createStoreSink } from '../../src/ingest/store-sink.ts';
import { createEventWriter } from '../../src/ingest/writer.ts';
import { trusted } from '../../src/sql/sql.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const source = core.registry.getSource('postgres.logs');
const NOW = Date.now();

async function* streamOf(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function load(stream: AsyncIterable<Buffer>, signal = new AbortController().signal) {
  const rejected: [number, string][] = [];
  const onRejected = (line: number, reason: string) => void rejected.push([line, reason]);
  const options = {
    project: '',
    eventBytesMax: 2_000,
    now: () => NOW,
    onRejected,
    onWithoutProject: () => {},
    filtered: createFilterCounts(),
  };
  const repaired: number[] = [];
  const sink = createStoreSink(createEventWriter(core.engine, source), source, options);
  const end = loadEvents(sink, stream, {
    ...{ lineBytesMax: 2_000, signal, onRejected },
    onRepaired: (line) => void repaired.push(line),
    onProgress: () => {},
  });
  return { end, rejected, repaired };
}

async function idsOf(project: string): Promise<string[]> {
  const rows = await core.engine.inspect(
    trusted(`SELECT id FROM tailrace.postgres_logs WHERE project = '${project}' ORDER BY id`),
  );
  return rows.map((row) => String(row['id']));
}

const event = (project: string, id: string) => `{"id":"${id}","project":"${project}","event_message":"é"}`;

test('stores the good lines and tells of each bad one, by number and reason', async () => {
  const invalid = Buffer.from([0x7b, 0xff, 0x7d, 0x0a]);
  const { end, rejected } = await load(
    streamOf(
      `${event('mixed', '1')}\n\nnonsense\n`,
      invalid,
      `[1]\n${event('mixed', '6')}\r\n{"a":"${'x'.repeat(3000)}"}\n`,
      `{"timestamp":"1999-01-01"}\n${event('mixed', '9')}\n{"id":"10","proj`,
    ),
  );
  expect(await end).toMatchObject({ stored: 3, line: 10 });
  expect(rejected).toEqual([
    [3, 'is not valid JSON'],
    [4, 'is not valid JSON'],
    [5, 'is not a JSON object'],
    [7, 'is longer than 2000 bytes'],
    [8, 'is older than the 90 days that postgres.logs keeps: 1999-01-01 00:00:00.000000'],
    [10, 'is not valid JSON'],
  ]);
  expect(await idsOf('mixed')).toEqual(['1', '6', '9']);
});

test('stores lines with bytes that are not UTF-8, with U+FFFD instead, and reports them', async () => {
  const [before = '', after = ''] = event('latin1', '2').split('é');
  const latin1 = Buffer.concat([
    Buffer.from(before),
    Buffer.from('café', 'latin1'),
    Buffer.from(`${after}\n`),
  ]);
  const lines = [`${event('latin1', '1')}\n`, latin1, event('latin1', '3')];
  const { end, rejected, repaired } = await load(streamOf(...lines));
  expect(await end).toMatchObject({ stored: 3 });
  expect([rejected, repaired]).toEqual([[], [2]]);
  const rows = await core.engine.inspect(
    `SELECT event_message FROM tailrace.postgres_logs WHERE project = 'latin1' ORDER BY id`,
  );
  expect(rows.map((row) => row['event_message'])).toEqual(['é', 'caf\ufffd', 'é']);
});

test.each([
  [Buffer.from(`\ufeff${event('utf16', '1')}\n`, 'utf16le'), ': this is UTF-16; convert it first'],
  [Buffer.from(`\ufeff${event('utf16', '1')}\n`, 'utf16le').swap16(), ': this is UTF-16; convert it first'],
  [gzipSync('{}'), ': this is gzip; give the file a name that ends with .gz, or unpack it first'],
])('says what a file is that is not text', async (bytes, hint) => {
  const { end, rejected } = await load(streamOf(bytes));
  await end;
  expect(rejected[0]).toEqual([1, `is not UTF-8${hint}`]);
});

test('stores what was read before it was stopped', async () => {
  const stop = new AbortController();
  async function* endless(): AsyncGenerator<Buffer> {
    for (let i = 0; ; i++) {
      if (i === 5) stop.abort();
      yield Buffer.from(`${event('stopped', String(i))}\n`);
    }
  }
  const { end } = await load(endless(), stop.signal);
  expect(await end).toMatchObject({ stored: 5 });
  expect(await idsOf('stopped')).toHaveLength(5);
});

test('stores what was read before the stream broke, and fails with what broke it', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from(`${event('broken', '1')}\n${event('broken', '2')}\n`);
    throw new Error('unexpected end of file');
  }
  const { end } = await load(broken());
  await expect(end).rejects.toThrow('unexpected end of file');
  expect(await idsOf('broken')).toEqual(['1', '2']);
});

test('stores every kind of text so that it comes back exactly', async () => {
  const metadata =
    '{"b":null,"a.b":[],"2":1,"1":12345678901234567890,"s":"\\u0041\\/\\ud800\\u0000\'\\\\","😀":"\u2028"}';
  const { end, rejected } = await load(streamOf(`{"id":"1","project":"exact","metadata":${metadata}}`));
  await end;
  expect(rejected).toEqual([]);
  const [row] = await core.engine.inspect(
    `SELECT metadata FROM tailrace.postgres_logs WHERE project = 'exact'`,
  );
  expect(row?.['metadata']).toBe(metadata);
});

test('stores an event whose texts hold a lone surrogate, as U+FFFD', async () => {
  const text =
    '{"id":"a\\ud800","project":"surrogate","event_message":"\\udc00","metadata":{"parsed":{"user_name":"u\\ud800"}}}';
  const { end, rejected } = await load(streamOf(text));
  await end;
  expect(rejected).toEqual([]);
  const rows = await core.engine.inspect(
    `SELECT id, event_message, user_name FROM tailrace.postgres_logs WHERE project = 'surrogate'`,
  );
  expect(rows).toEqual([{ id: 'a\ufffd', event_message: '\ufffd', user_name: 'u\ufffd' }]);
});
