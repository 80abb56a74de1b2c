import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import type { Batch } from '../../src/ingest/decode-batch.ts';
import { createDecoder, type Decoder } from '../../src/ingest/decoder.ts';
import type { BodyFormat } from '../../src/ingest/wire-events.ts';
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

const opened: Decoder[] = [];
afterEach(async () => {
  for (const decoder of opened.splice(0)) await decoder.close();
});

const OPTIONS = {
  inlineBytesMax: 64 * MIB,
  inlineMarksMax: Number.POSITIVE_INFINITY,
  queueBytesMax: 64 * MIB,
  threadMemoryMbMax: 256,
};

function open(options: Partial<typeof OPTIONS> = {}): Decoder {
  const decoder = createDecoder({ ...OPTIONS, ...options });
  opened.push(decoder);
  return decoder;
}

/** One that decodes every body on its thread. */
const openThreaded = (options: Partial<typeof OPTIONS> = {}) => open({ inlineBytesMax: 0, ...options });

type Body = string | Buffer;

interface DecodeOptions<T> {
  readonly source?: Source | null;
  readonly use?: (batch: Batch) => Promise<T>;
  readonly key?: string;
}

/** @param source that the request names; `null` leaves it to the body */
function decode<T = Batch>(
  decoder: Decoder,
  [body, format]: readonly [Body, BodyFormat],
  { source = EDGE, use, key = 'key' }: DecodeOptions<T> = {},
) {
  const input = { bytes: Buffer.from(body), format, candidates: definitions.sources, rules: RULES };
  const keep = async (batch: Batch) => batch as T; // without `use`, T is Batch
  return decoder.decode(key, { ...input, source: source ?? undefined }, use ?? keep);
}

/** What a decoder makes of a body, in a form that can be compared: texts, or the failure. */
async function outcome(decoder: Decoder, body: readonly [Body, BodyFormat]): Promise<unknown> {
  try {
    const batch = await decode(decoder, body, { source: null });
    return {
      ...batch,
      parts: batch.parts.map((part) => ({ ...part, source: part.source.name, rows: [] })),
      rows: textsOf(batch),
    };
  } catch (error) {
    return error;
  }
}

const rowsOf = ({ parts }: Batch) => parts.flatMap(({ rows }) => rows);
const acceptedOf = ({ parts }: Batch) => parts.reduce((sum, { accepted }) => sum + accepted, 0);
const textsOf = (batch: Batch) => rowsOf(batch).map((row) => ({ ...row, bytes: row.bytes.toString() }));

const EVENT = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ id: fc.uuid(), event_message: fc.string(), metadata: fc.jsonValue() }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  fc.record({ id: fc.uuid(), timestamp: fc.oneof(fc.string(), fc.date({ noInvalidDate: true })) }),
);

describe('a body that is decoded on the thread', () => {
  test('gives the same batch as inline, in every format', async () => {
    const [inline, threaded] = [open(), openThreaded()];
    // Without an id, each decoder would generate another.
    const events = EVENT.map((event) =>
      typeof event === 'object' && event !== null && !Array.isArray(event)
        ? { id: 'x', timestamp: NOW_MS, ...event }
        : event,
    );
    const bodies = fc.array(events, { maxLength: 20 }).chain((list) => {
      const ndjson = list.map((event) => JSON.stringify(event)).join('\n');
      return fc.constantFrom<[string, BodyFormat]>(
        [JSON.stringify(list), 'json'],
        [JSON.stringify({ batch: list, source_name: EDGE.name, source: [EDGE.id, 3] }), 'json'],
        [JSON.stringify({ batch: list, source_name: 'no.such' }), 'json'],
        [`${ndjson}\n{"id":`, 'ndjson'],
        [ndjson.slice(0, -3), 'json'],
        [JSON.stringify({ resourceLogs: list }), 'otlp-json'],
        [ndjson, 'otlp-protobuf'],
      );
    });
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        expect(await outcome(threaded, body)).toEqual(await outcome(inline, body));
        const named = (decoder: Decoder) => decode(decoder, body).then(textsOf, (error: unknown) => error);
        expect(await named(threaded)).toEqual(await named(inline));
      }),
      runs(200),
    );
  });

  test('of many days has the rows of each, small and large', async () => {
    const days = [0, 1, 2, 1, 0].map((daysAgo, i) => ({
      id: `e${i}`,
      timestamp: new Date(NOW_MS - daysAgo * 86_400_000).toISOString(),
      metadata: { text: 'ü'.repeat(i * 1000) },
    }));
    const batch = await decode(openThreaded(), [JSON.stringify(days), 'json']);
    const rows = rowsOf(batch);
    expect(rows.map(({ day, count }) => [day - Math.floor(NOW_MS / 86_400_000), count])).toEqual([
      [0, 2],
      [-1, 2],
      [-2, 1],
    ]);
    expect(acceptedOf(batch)).toBe(5);
    expect(rows[0]?.bytes.toString().split('\n')).toHaveLength(3);
    expect(rows.every(({ bytes }) => Buffer.isBuffer(bytes) && bytes.at(-1) === 0x0a)).toBe(true);
  });

  test('may name its source', async () => {
    const body = JSON.stringify({ source_name: EDGE.name, other: 1, collection: '' });
    const batch = await decode(openThreaded(), [body, 'json'], { source: null });
    expect(batch.parts.map(({ source }) => source)).toEqual([EDGE]);
  });

  test('leaves the event loop to other work', async () => {
    let rounds = 0;
    const counting = setInterval(() => rounds++);
    expect(acceptedOf(await decode(openThreaded(), ['{}\n'.repeat(30_000), 'ndjson']))).toBe(30_000);
    clearInterval(counting);
    expect(rounds).toBeGreaterThan(3);
  });

  test('is copied nowhere: its bytes move to the thread', async () => {
    const bytes = Buffer.from(new ArrayBuffer(MIB)).fill(' ');
    bytes.write('[]');
    const input = { bytes, format: 'json', source: EDGE, candidates: [], rules: RULES } as const;
    await openThreaded().decode('key', input, async () => {});
    expect(bytes).toHaveLength(0);
  });
});

test('a body of more values than any real one has is refused before it is parsed', async () => {
  const bomb = Buffer.from(`[${'{},'.repeat(8_000_000)}{}]`);
  for (const format of ['json', 'otlp-json'] as const) {
    await expect(decode(open(), [bomb, format])).rejects.toMatchObject({ code: 'body_too_large' });
  }
});

test('OTLP records that become very large with their resource are refused', async () => {
  const attributes = Array.from({ length: 2_000 }, (_, i) => ({ key: `a${i}` }));
  const logRecords = Array.from({ length: 3_000 }, () => ({}));
  const body = JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] });
  await expect(decode(openThreaded(), [body, 'otlp-json'])).rejects.toMatchObject({ code: 'body_too_large' });
});

describe('a small body that holds much', () => {
  const dense: [BodyFormat, string][] = [
    ['json', `[${'1,'.repeat(2_000)}1]`],
    ['ndjson', '{}\n'.repeat(2_000)],
    ['otlp-json', `{"resourceLogs":[${'{},'.repeat(2_000)}{}]}`],
    ['otlp-protobuf', '\x0a\x00'.repeat(2_000)],
  ];

  test.each(dense)('is decoded on the thread: %s', async (format, text) => {
    const options = { inlineBytesMax: MIB, queueBytesMax: 0 }; // the thread takes nothing
    const body = [Buffer.from(text, 'latin1'), format] as const;
    const refused = decode(open({ ...options, inlineMarksMax: 1_000 }), body);
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
    await decode(open({ ...options, inlineMarksMax: 10_000 }), body);
  });
});

describe('a small body whose events repeat what they share', () => {
  const large = 'x'.repeat(20_000);
  const streams = [{ stream: { large }, values: Array.from({ length: 400 }, () => ['1', 'a']) }];
  const resource = { attributes: [{ key: 'large', value: { stringValue: large } }] };
  const logRecords = Array.from({ length: 400 }, () => ({}));
  const repeating: [BodyFormat, string, Record<string, string>][] = [
    ['loki-json', JSON.stringify({ streams }), {}],
    ['otlp-json', JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }), {}],
    ['datadog-json', `[${'{},'.repeat(400)}{}]`, { ddtags: large }],
    ['datadog-lines', 'a\n'.repeat(400), { ddtags: large }],
    ['splunk-lines', 'a\n'.repeat(400), { host: large }],
    ['elasticsearch-bulk', '{"index":{}}\n{}\n'.repeat(200), { index: large }],
  ];

  test.each(repeating)('is decoded on the thread: %s', async (format, text, context) => {
    const input = { bytes: Buffer.from(text), format, context, source: EDGE, candidates: [], rules: RULES };
    const run = (options: Partial<typeof OPTIONS>) =>
      open(options).decode('key', input, async ({ parts, refused }) => [parts[0]?.accepted, refused]);
    const refused = run({ inlineBytesMax: 64 * 1024, queueBytesMax: 0 }); // the thread takes nothing
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
    expect(await run({ inlineBytesMax: 64 * 1024 })).toHaveLength(2);
  });

  test('is refused if what the response says of each event becomes too large', async () => {
    const context = { index: large };
    const bytes = Buffer.from('{"delete":{}}\n'.repeat(5_000));
    const input = { bytes, format: 'elasticsearch-bulk' as const, context, candidates: [], rules: RULES };
    const decoded = openThreaded().decode('key', { ...input, source: EDGE }, async () => {});
    await expect(decoded).rejects.toMatchObject({ code: 'body_too_large' });
  });
});

describe('nesting deeper than the stack allows', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const good = '{"message":"a"}';

  test.each<[BodyFormat, string]>([
    ['json', `[{"metadata":${deep}},${good}]`],
    ['ndjson', `{"metadata":${deep}}\n${good}`],
    ['loki-json', `{"streams":[{"stream":{},"values":[["${NOW_MS}","a",{"a":${deep}}],["${NOW_MS}","b"]]}]}`],
    [
      'loki-json',
      `{"streams":[{"stream":{"a":${deep}},"values":[["${NOW_MS}","a"]]},{"values":[["${NOW_MS}","b"]]}]}`,
    ],
    ['elasticsearch-bulk', `{"create":{}}\n{"a":${deep}}\n{"create":{}}\n${good}`],
    ['splunk-events', `{"event":{"a":${deep}}}{"event":"b"}`],
    ['datadog-json', `[{"a":${deep}},${good}]`],
    ['vercel-json', `[{"a":${deep}},${good}]`],
    ['vercel-lines', `{"a":${deep}}\n${good}`],
    ['logpush', `{"a":${deep}}\n${good}`],
    ['firehose', `{"records":[{"data":"${btoa(`{"a":${deep}}\n${good}`)}"}]}`],
  ])('rejects its event, and no other: %s', async (format, body) => {
    const { refused, parts } = await decode(open(), [body, format]);
    expect([refused, parts[0]?.accepted]).toEqual([1, 1]);
  });
});

test('tags of the query string are read once for all events', async () => {
  const cpuOf = async (ddtags: string) => {
    const context = { ddtags };
    const input = { bytes: Buffer.from('a\n'.repeat(200)), format: 'datadog-lines' as const, context };
    const before = process.cpuUsage();
    await open().decode('key', { ...input, source: EDGE, candidates: [], rules: RULES }, async () => {});
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await cpuOf('a');
  const one = await cpuOf('x'.repeat(50_000));
  expect(await cpuOf('x,'.repeat(25_000))).toBeLessThan(5 * one + 100_000);
});

describe('the queue of the thread', () => {
  test('refuses a body while it is full, which it is until a batch is stored', async () => {
    const decoder = openThreaded({ queueBytesMax: 10 });
    const stored = Promise.withResolvers<void>();
    const used = Promise.withResolvers<void>();
    const first = decode(decoder, ['[{"id":"1"}]', 'json'], {
      async use() {
        used.resolve();
        await stored.promise;
      },
    });
    await used.promise;
    await expect(decode(decoder, ['[]', 'json'])).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 1,
    });
    stored.resolve();
    await first;
    await expect(decode(decoder, ['[{"id":"1"', 'json'])).rejects.toMatchObject({ code: 'invalid_request' });
    await decode(decoder, ['[{"id":"2"}]', 'json']);
  });

  test('gives keys their turns, and each a share of the backlog', async () => {
    const decoder = openThreaded({ queueBytesMax: 100_000 });
    const body = [`[${'{},'.repeat(6_000)}{}]`, 'json'] as const; // 18 KB
    const order: string[] = [];
    const send = (key: string) =>
      decode(decoder, body, {
        key,
        use: async () => void order.push(key),
      }).catch((error: unknown) => error);
    const greedy = Array.from({ length: 20 }, () => send('greedy'));
    const other = [send('other'), send('other')];
    const outcomes = await Promise.all(greedy);
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(5);
    expect(outcomes[5]).toMatchObject({
      code: 'overloaded',
      message: expect.stringContaining('of this key'),
    });
    expect((await Promise.all(other))[0]).toBeUndefined();
    expect(order.slice(0, 3)).toEqual(['greedy', 'greedy', 'other']);
  });

  test('goes on after a body that takes more memory than there is, which is 413', async () => {
    const decoder = openThreaded({ threadMemoryMbMax: 48 });
    const bomb = Buffer.from(`[${'{},'.repeat(2_000_000)}{}]`);
    const [refused, next] = await Promise.allSettled([
      decode(decoder, [bomb, 'json']),
      decode(decoder, ['[{"id":"2"}]', 'json']),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'body_too_large' } });
    expect(next).toMatchObject({ status: 'fulfilled', value: { parts: [{ accepted: 1 }] } });
    expect(acceptedOf(await decode(decoder, ['[{"id":"3"}]', 'json']))).toBe(1);
  });

  test('is empty after the thread has ended: a body on it is 503, and the next one is decoded', async () => {
    const decoder = openThreaded({ queueBytesMax: 10 });
    const lost = decode(decoder, [`[${'{},'.repeat(40_000)}{}]`, 'json']);
    const closed = decoder.close();
    await expect(lost).rejects.toMatchObject({ code: 'engine_unavailable' });
    await closed;
    expect(acceptedOf(await decode(decoder, ['[{"id":"2"}]', 'json']))).toBe(1);
  });
});
