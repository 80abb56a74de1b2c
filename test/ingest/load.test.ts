import { afterAll, expect, test } from 'vitest';
import { createFilterCounts } from '../../src/ingest/filter/filter.ts';
import { loadEvents } from '../../src/ingest/load.ts';
import { createStoreSink } from '../../src/ingest/store-sink.ts';
import { createEventWriter } from '../../src/ingest/writer.ts';
import { idsOf, rowsOf } from '../support/ingest.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const source = core.registry.getSource('postgres.logs');
const NOW = Date.now();
const table = 'postgres_logs';

async function* streamOf(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

function load(stream: AsyncIterable<Buffer>, signal = new AbortController().signal) {
  const rejected: [number, string][] = [];
  const repaired: number[] = [];
  const onRejected = (line: number, reason: string) => void rejected.push([line, reason]);
  const options = { project: '', eventBytesMax: 2_000, now: () => NOW, onRejected };
  const sink = createStoreSink(createEventWriter(core.engine, source), source, {
    ...options,
    onWithoutProject: () => {},
    filtered: createFilterCounts(),
  });
  const end = loadEvents(sink, stream, {
    ...{ lineBytesMax: 2_000, signal, onRejected },
    onRepaired: (line) => void repaired.push(line),
    onProgress: () => {},
  });
  return { end, rejected, repaired };
}

const event = (project: string, id: string) => `{"id":"${id}","project":"${project}","event_message":"é"}`;

test('stores the good lines and reports each bad one, by number and reason', async () => {
  const { end, rejected } = load(
    streamOf(
      `${event('mixed', '1')}\n\nnonsense\n`,
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
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
  expect(await idsOf(core, 'mixed', table)).toEqual(['1', '6', '9']);
});

test('stores bytes that are not UTF-8, and lone surrogates, as U+FFFD; reports lines with such bytes', async () => {
  const latin1 = Buffer.concat([
    Buffer.from('{"id":"2","project":"repaired","event_message":"caf'),
    Buffer.from([0xe9]),
    Buffer.from('"}\n'),
  ]);
  const surrogate =
    '{"id":"3\\ud800","project":"repaired","event_message":"\\udc00","metadata":{"parsed":{"user_name":"u\\ud800"}}}';
  const { end, rejected, repaired } = load(streamOf(`${event('repaired', '1')}\n`, latin1, surrogate));
  expect(await end).toMatchObject({ stored: 3 });
  expect([rejected, repaired]).toEqual([[], [2]]);
  expect(await rowsOf(core, 'repaired', { table, columns: 'id, event_message, user_name' })).toEqual([
    { id: '1', event_message: 'é', user_name: null },
    { id: '2', event_message: 'caf\ufffd', user_name: null },
    { id: '3\ufffd', event_message: '\ufffd', user_name: 'u\ufffd' },
  ]);
});

test('stores what was read before it was stopped, or before the stream broke', async () => {
  const stop = new AbortController();
  async function* read(project: string, onFive: () => void): AsyncGenerator<Buffer> {
    for (let i = 0; ; i++) {
      if (i === 5) onFive();
      yield Buffer.from(`${event(project, String(i))}\n`);
    }
  }
  const stopped = load(
    read('stopped', () => stop.abort()),
    stop.signal,
  );
  expect(await stopped.end).toMatchObject({ stored: 5 });
  expect(await idsOf(core, 'stopped', table)).toHaveLength(5);
  const broken = load(
    read('broken', () => {
      throw new Error('unexpected end of file');
    }),
  );
  await expect(broken.end).rejects.toThrow('unexpected end of file');
  expect(await idsOf(core, 'broken', table)).toHaveLength(5);
});
