import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import type { BodyFormat } from '../../src/ingest/body.ts';
import { type BodyReader, createBodyReader } from '../../src/ingest/body-reader.ts';
import type { ReadEvents } from '../../src/ingest/read-events.ts';
import { MICROS_PER_MS } from '../../src/lib/instant.ts';
import { runs } from '../support/property.ts';

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const EDGE = getEdge(definitions.sources);
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const RULES = { now: NOW_MS * MICROS_PER_MS, eventBytesMax: 10_000, project: 'fallback' };
const MIB = 1024 * 1024;

function getEdge(sources: readonly Source[]): Source {
  const edge = sources.find(({ name }) => name === 'cloudflare.logs.prod');
  if (edge === undefined) throw new Error('the edge source is not defined');
  return edge;
}

const opened: BodyReader[] = [];
afterEach(async () => {
  for (const reader of opened.splice(0)) await reader.close();
});

/** `here` reads every body at once, `there` hands each to its thread. */
function open({ queueBytesMax = 64 * MIB, threadMemoryMbMax = 256 } = {}) {
  const inline = { inlineMarksMax: Number.POSITIVE_INFINITY };
  const here = createBodyReader({ ...inline, inlineBytesMax: 64 * MIB, queueBytesMax, threadMemoryMbMax });
  const there = createBodyReader({ ...inline, inlineBytesMax: 0, queueBytesMax, threadMemoryMbMax });
  opened.push(here, there);
  return { here, there };
}

/** What a reader makes of a body, in a form that can be compared: texts, or the failure. */
async function outcome(reader: BodyReader, text: string | Buffer, format: BodyFormat): Promise<unknown> {
  try {
    const body = await reader.open(Buffer.from(text), format);
    const read = await body.read(EDGE, RULES);
    body.drop();
    return { fields: body.fields, ...read, rows: rowsOf(read) };
  } catch (error) {
    return error;
  }
}

const rowsOf = ({ rows }: ReadEvents) => rows.map((row) => ({ ...row, bytes: row.bytes.toString() }));

const EVENT = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ id: fc.uuid(), event_message: fc.string(), metadata: fc.jsonValue() }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  fc.record({ id: fc.uuid(), timestamp: fc.oneof(fc.string(), fc.date({ noInvalidDate: true })) }),
);

describe('a body that is read in the thread', () => {
  test('comes to the same as one that is read at once, in every format', async () => {
    const { here, there } = open();
    // Without an id the two readings would make up two.
    const events = EVENT.map((event) =>
      typeof event === 'object' && event !== null && !Array.isArray(event)
        ? { id: 'x', timestamp: NOW_MS, ...event }
        : event,
    );
    const bodies = fc.array(events, { maxLength: 20 }).chain((list) => {
      const ndjson = list.map((event) => JSON.stringify(event)).join('\n');
      return fc.constantFrom<[string, BodyFormat]>(
        [JSON.stringify(list), 'json'],
        [JSON.stringify({ batch: list, source_name: 'a', source: ['b', 3] }), 'json'],
        [`${ndjson}\n{"id":`, 'ndjson'],
        [ndjson.slice(0, -3), 'json'],
        [JSON.stringify({ resourceLogs: list }), 'otlp-json'],
        [ndjson, 'otlp-protobuf'],
      );
    });
    await fc.assert(
      fc.asyncProperty(bodies, async ([text, format]) => {
        expect(await outcome(there, text, format)).toEqual(await outcome(here, text, format));
      }),
      runs(200),
    );
  });

  test('of many days has the rows of each, small and large', async () => {
    const { there } = open();
    const days = [0, 1, 2, 1, 0].map((daysAgo, i) => ({
      id: `e${i}`,
      timestamp: new Date(NOW_MS - daysAgo * 86_400_000).toISOString(),
      metadata: { text: 'ü'.repeat(i * 1000) },
    }));
    const body = await there.open(Buffer.from(JSON.stringify(days)), 'json');
    const { rows, good } = await body.read(EDGE, RULES);
    expect(rows.map(({ day, count }) => [day - Math.floor(NOW_MS / 86_400_000), count])).toEqual([
      [0, 2],
      [-1, 2],
      [-2, 1],
    ]);
    expect(good).toBe(5);
    expect(rows[0]?.bytes.toString().split('\n')).toHaveLength(3);
    expect(rows.every(({ bytes }) => Buffer.isBuffer(bytes) && bytes.at(-1) === 0x0a)).toBe(true);
    body.drop();
  });

  test('names its source as one that is read at once', async () => {
    const { there } = open();
    const body = await there.open(Buffer.from('{"source_name":"a","other":1,"collection":""}'), 'json');
    expect(body.fields).toEqual({ source_name: ['a'] });
    body.drop();
  });

  test('is answered although others are read in between', async () => {
    const { there } = open();
    const bodies = await Promise.all(
      ['a', 'b', 'c'].map((id) => there.open(Buffer.from(`[{"id":"${id}"}]`), 'json')),
    );
    const read = await Promise.all(bodies.reverse().map((body) => body.read(EDGE, RULES)));
    expect(read.map((one) => JSON.parse(one.rows[0]?.bytes.toString() ?? '[]')[0])).toEqual(['c', 'b', 'a']);
    for (const body of bodies) body.drop();
  });
});

test('a body of more values than any real one has is refused before it is parsed', async () => {
  const { here } = open();
  const bomb = Buffer.from(`[${'{},'.repeat(8_000_000)}{}]`);
  for (const format of ['json', 'otlp-json'] as const) {
    await expect(here.open(bomb, format)).rejects.toMatchObject({ code: 'body_too_large' });
  }
});

test('OTLP records whose resource would make them come to very much are refused, not multiplied', async () => {
  const { there } = open();
  const attributes = Array.from({ length: 2_000 }, (_, i) => ({ key: `a${i}` }));
  const logRecords = Array.from({ length: 3_000 }, () => ({}));
  const body = JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] });
  await expect(there.open(Buffer.from(body), 'otlp-json')).rejects.toMatchObject({ code: 'body_too_large' });
});

describe('a small body that holds much', () => {
  const dense: [BodyFormat, string][] = [
    ['json', `[${'1,'.repeat(2_000)}1]`],
    ['ndjson', '{}\n'.repeat(2_000)],
    ['otlp-json', `{"resourceLogs":[${'{},'.repeat(2_000)}{}]}`],
    ['otlp-protobuf', '\x0a\x00'.repeat(2_000)],
  ];

  test.each(dense)('is read in the thread: %s', async (format, text) => {
    const options = { inlineBytesMax: MIB, inlineMarksMax: 1_000, queueBytesMax: 0, threadMemoryMbMax: 64 };
    const reader = createBodyReader(options); // whose thread takes nothing
    opened.push(reader);
    const bytes = () => Buffer.from(text, 'latin1');
    await expect(reader.open(bytes(), format)).rejects.toMatchObject({ code: 'overloaded' });
    (await createBodyReader({ ...options, inlineMarksMax: 10_000 }).open(bytes(), format)).drop();
  });
});

test('other work goes on while the events of a body are read at once', async () => {
  const { here } = open();
  const body = await here.open(Buffer.from('{}\n'.repeat(30_000)), 'ndjson');
  let rounds = 0;
  const counting = setInterval(() => rounds++);
  expect((await body.read(EDGE, RULES)).good).toBe(30_000);
  clearInterval(counting);
  expect(rounds).toBeGreaterThan(3);
});

describe('the queue of the thread', () => {
  test('turns a body away when it is full, and has its room back when bodies are dropped or refused', async () => {
    const { there } = open({ queueBytesMax: 10 });
    const first = await there.open(Buffer.from('[{"id":"1"}]'), 'json');
    await expect(there.open(Buffer.from('[]'), 'json')).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 1,
    });
    first.drop();
    await expect(there.open(Buffer.from('[{"id":"1"'), 'json')).rejects.toMatchObject({
      code: 'invalid_request',
    });
    (await there.open(Buffer.from('[{"id":"2"}]'), 'json')).drop();
  });

  test('lives on after a body that takes more memory than there is, which is 413', async () => {
    const { there } = open({ threadMemoryMbMax: 48 });
    const bomb = Buffer.from(`[${'{},'.repeat(2_000_000)}{}]`);
    await expect(there.open(bomb, 'json')).rejects.toMatchObject({ code: 'body_too_large' });
    const next = await there.open(Buffer.from('[{"id":"2"}]'), 'json');
    expect((await next.read(EDGE, RULES)).good).toBe(1);
    next.drop();
  });

  test('is empty after the thread has died: what it held is 503, and the next body is read', async () => {
    const { there } = open({ queueBytesMax: 10 });
    const held = await there.open(Buffer.from('[{"id":"1"}]'), 'json');
    await there.close();
    await expect(held.read(EDGE, RULES)).rejects.toMatchObject({ code: 'engine_unavailable' });
    held.drop();
    const next = await there.open(Buffer.from('[{"id":"2"}]'), 'json');
    expect((await next.read(EDGE, RULES)).good).toBe(1);
    next.drop();
  });
});
