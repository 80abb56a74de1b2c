import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

/** A body with the headers that say what it is, which may be wrong on purpose. */
export interface FuzzBody {
  readonly bytes: Buffer;
  readonly headers: readonly (readonly [string, string])[];
}

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/x-ndjson',
  'application/ndjson',
  'application/x-protobuf',
  'application/vnd.api+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/json; charset="',
  'nonsense',
  '',
];
const ENCODINGS = [
  'gzip',
  'deflate',
  'br',
  'zstd',
  'identity',
  'GZIP',
  'gzip, gzip',
  'x-gzip',
  'nonsense',
  '',
];

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }));
const odd = fc.constantFrom<unknown>(
  null,
  -0,
  1e308,
  -1,
  2 ** 53,
  '',
  [],
  {},
  '\u0000',
  '\ud800',
  'x'.repeat(3000),
);
const instant = fc.oneof(
  fc.integer({ min: 0, max: 2_000_000_000_000_000 }),
  fc.constantFrom<unknown>(
    '2026-11-20T07:00:00Z',
    '0000-00-00',
    'Infinity',
    -1,
    1e20,
    '2026-11-20T07:00:00+99:99',
    null,
  ),
);
const event = fc.record(
  {
    event_message: fc.oneof(text, odd),
    message: fc.oneof(text, odd),
    timestamp: fc.oneof(instant, odd),
    id: fc.oneof(fc.uuid(), text, odd),
    project: fc.oneof(text, odd),
    source: fc.oneof(fc.constant('postgres.logs'), text),
    metadata: fc.oneof(fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }), odd),
    ['__proto__x']: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: [] },
);
const events = fc.oneof(
  event,
  fc.array(event, { maxLength: 5 }),
  fc.record({ batch: fc.array(event, { maxLength: 5 }) }),
);
const otlp = fc.record({
  resourceLogs: fc.array(
    fc.record({
      scopeLogs: fc.array(
        fc.record({
          logRecords: fc.array(
            fc.record(
              {
                timeUnixNano: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String), odd),
                body: fc.oneof(fc.record({ stringValue: text }), odd),
                attributes: fc.oneof(
                  fc.array(fc.record({ key: text, value: fc.record({ intValue: odd }) })),
                  odd,
                ),
                traceId: fc.oneof(text, odd),
              },
              { requiredKeys: [] },
            ),
            { maxLength: 3 },
          ),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  ),
});

const tools = fc.constantFrom('logs_all', 'usage_api_counts', 'functions_invocation_stats', 'none');
const rpc = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.nat(), text, odd),
    method: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'resources/read') },
      { weight: 1, arbitrary: text },
    ),
    params: fc.oneof(
      fc.record({
        name: tools,
        arguments: fc.record(
          { project: fc.oneof(text, odd), interval: fc.constantFrom('daily', 'x'), x: odd },
          { requiredKeys: [] },
        ),
      }),
      odd,
    ),
  },
  { requiredKeys: ['jsonrpc', 'method'] },
);
const json = fc.oneof(events, otlp, rpc, fc.jsonValue({ maxDepth: 4 })).map((value) => JSON.stringify(value));
const nested = fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth));
const members = fc.constantFrom(
  '{"__proto__":{"a":1}}',
  '{"a":1,"a":2}',
  '{"event_message":"\\ud800"}',
  '[1e999]',
  '{"constructor":{"prototype":{}}}',
);
const broken = fc.tuple(json, fc.nat(), text).map(([whole, at, junk]) => {
  const cut = at % (whole.length + 1);
  return whole.slice(0, cut) + junk + whole.slice(cut + 1);
});
const lines = fc.array(fc.oneof(json, broken, text), { maxLength: 6 }).map((all) => all.join('\n'));
// What takes some parser more time than its length: one unit of its grammar, many thousand times.
const UNITS = [
  ...[
    'a{1',
    '1',
    '\\p{',
    '(',
    '(?:',
    '[',
    '[^',
    '\\',
    '{',
    '"',
    "'",
    '/*',
    '-- ',
    '@',
    ',',
    ' ',
    '\n',
    '%41',
    '+',
    '&a=',
    '=',
  ],
  ...[
    'é',
    '\u{1F600}',
    '\ud800',
    '\u0000',
    '$1',
    '*',
    '..',
    ';q=0.1,',
    '2026-',
    ' and ',
    'a:"',
    'not ',
    'Z',
    ':',
  ],
];
// The same behind a beginning without an end.
const OPENED = [
  ['a{', '1'],
  ['a{1,', '1'],
  ['\\p{', 'L'],
  ['[[:', 'a'],
  ['(?P<', 'a'],
  ['"', '\\'],
] as const;
const long = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...OPENED),
      fc.constantFrom(...UNITS).map((unit) => ['', unit] as const),
    ),
    fc.constantFrom(60_000, 30_000, 5_000, 100),
  )
  .map(([[before, unit], length]) => before + unit.repeat(Math.ceil(length / unit.length)));
const LONG_NAMES = [
  ...['project', 'project', 'project'],
  ...['project', 'sql', 'search', 's', 'interval', 'iso_timestamp_start', 'id', 'timestamp', 'event_message'],
  ...['metadata', 'name', 'expires_at', 'field', '__proto__'],
];
/** JSON of one object with a long member, beside what shipped endpoints ask for. */
export const longMember = fc
  .tuple(fc.constantFrom(...LONG_NAMES), long, fc.constantFrom(false, false, false, true))
  .map(([name, value, isDeep]) => {
    const member = isDeep ? { request: { path: value, [value]: name } } : value;
    return JSON.stringify({ project: 'aurora', interval: 'hourly', [name]: member });
  });
// A few real fields of OTLP's protobuf, so that what follows is read as a part of them.
const protobuf = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc.constantFrom(
        Uint8Array.of(0x0a, 0x05),
        Uint8Array.of(0x12, 0x03),
        Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0x0f),
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts));

const plain = fc.oneof(
  { weight: 5, arbitrary: json.map((one) => Buffer.from(one)) },
  { weight: 3, arbitrary: broken.map((one) => Buffer.from(one)) },
  { weight: 3, arbitrary: lines.map((one) => Buffer.from(one)) },
  { weight: 3, arbitrary: longMember.map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: nested.map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: members.map((one) => Buffer.from(one)) },
  { weight: 3, arbitrary: protobuf },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
);

const PACKERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
const packed = fc
  .tuple(plain, fc.constantFrom('gzip', 'deflate', 'br'), fc.option(fc.nat(), { freq: 3 }), fc.boolean())
  .map(([bytes, encoding, cut, large]) => {
    const whole = PACKERS[encoding](large ? Buffer.alloc(300_000, bytes[0] ?? 0x20) : bytes);
    return { encoding, bytes: cut === null ? whole : whole.subarray(0, cut % (whole.length + 1)) };
  });

export const fuzzBody: fc.Arbitrary<FuzzBody> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(plain, fc.constantFrom(...TYPES)).map(([bytes, type]) => withHeaders(bytes, type)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(packed, fc.constantFrom(...TYPES))
      .map(([{ bytes, encoding }, type]) => withHeaders(bytes, type, encoding)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(plain, fc.constantFrom(...TYPES), fc.constantFrom(...ENCODINGS))
      .map(([bytes, type, encoding]) => withHeaders(bytes, type, encoding)),
  },
);

function withHeaders(bytes: Buffer, type: string, encoding?: string): FuzzBody {
  const headers = [['content-type', type] as const];
  return { bytes, headers: encoding === undefined ? headers : [...headers, ['content-encoding', encoding]] };
}
