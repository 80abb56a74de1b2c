import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { createRegistry } from '../../src/definitions/registry.ts';
import type { Source } from '../../src/definitions/source.ts';
import type { BodyFormat } from '../../src/ingest/body-format.ts';
import { createDecoder, type Decoder } from '../../src/ingest/decoder.ts';
import { MICROS_PER_MS } from '../../src/lib/instant.ts';
import { runs } from '../support/property.ts';

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const EDGE = createRegistry(definitions).getSource('cloudflare.logs.prod');
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const RULES = { now: NOW_MS * MICROS_PER_MS, eventBytesMax: 10_000, project: 'fallback' };
const MIB = 1024 * 1024;

const opened: Decoder[] = [];
afterEach(async () => {
  for (const decoder of opened.splice(0)) await decoder.close();
});

const OPTIONS = {
  inlineBytesMax: 64 * MIB,
  inlineMarksMax: Number.POSITIVE_INFINITY,
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

/** @param source that the request names; `null` leaves it to the body */
function decode(decoder: Decoder, [body, format]: readonly [Body, BodyFormat], source: Source | null = EDGE) {
  const input = { bytes: Buffer.from(body), format, candidates: definitions.sources, rules: RULES };
  return decoder.decode('key', { ...input, source: source ?? undefined });
}

/** What a decoder makes of a body, in a form that can be compared: texts, or the failure. */
async function outcome(decoder: Decoder, body: readonly [Body, BodyFormat], source: Source | null) {
  try {
    const batch = await decode(decoder, body, source);
    const parts = batch.parts.map(({ source: { name }, rows, ...part }) => {
      return {
        ...part,
        name,
        rows: rows.map((row) => ({ ...row, bytes: Buffer.from(row.bytes).toString() })),
      };
    });
    return { ...batch, parts };
  } catch (error) {
    return error;
  }
}

const EVENT = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ id: fc.uuid(), event_message: fc.string(), metadata: fc.jsonValue() }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  fc.record({ id: fc.uuid(), timestamp: fc.oneof(fc.string(), fc.date({ noInvalidDate: true })) }),
);

test('a body that is decoded on the thread gives the same batch as inline, in every format', async () => {
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
      for (const source of [null, EDGE])
        expect(await outcome(threaded, body, source)).toEqual(await outcome(inline, body, source));
    }),
    runs(200),
  );
});

describe('nesting deeper than the stack allows', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const good = '{"message":"a"}';
  const value = `${'{"kvlistValue":{"values":[{"key":"a","value":'.repeat(10_000)}{}${'}]}}'.repeat(10_000)}`;
  const records = `[{"attributes":[{"key":"a","value":${value}}]},{}]`;

  test.each<[BodyFormat, string]>([
    ['json', `[{"metadata":${deep}},${good}]`],
    ['ndjson', `{"metadata":${deep}}\n${good}`],
    ['loki-json', `{"streams":[{"stream":{},"values":[["${NOW_MS}","a",{"a":${deep}}],["${NOW_MS}","b"]]}]}`],
    ['otlp-json', `{"resourceLogs":[{"scopeLogs":[{"logRecords":${records}}]}]}`],
    ['elasticsearch-bulk', `{"create":{}}\n{"a":${deep}}\n{"create":{}}\n${good}`],
  ])('rejects its event, and no other: %s', async (format, body) => {
    const { rejected, parts } = await decode(open(), [body, format]);
    expect([rejected, parts[0]?.stored]).toEqual([1, 1]);
  });
});

test('the thread goes on after a body that takes more memory than there is, which is 413', async () => {
  const decoder = openThreaded({ threadMemoryMbMax: 48 });
  const bomb = `{"resourceLogs":[${'{},'.repeat(2_000_000)}{}]}`;
  const [rejected, next] = await Promise.allSettled([
    decode(decoder, [bomb, 'otlp-json']),
    decode(decoder, ['[{"id":"2"}]', 'json']),
  ]);
  const message = expect.stringContaining('needs too much memory');
  expect(rejected).toMatchObject({ status: 'rejected', reason: { code: 'body_too_large', message } });
  expect(next).toMatchObject({ status: 'fulfilled', value: { parts: [{ stored: 1 }] } });
  expect((await decode(decoder, ['[{"id":"3"}]', 'json'])).parts).toMatchObject([{ stored: 1 }]);
});
