import fc from 'fast-check';
import { ALLOWED_METHODS } from '../../src/http/routes/index.ts';
import { fuzzBody, longMember } from './body.ts';

/** One request as bytes, and what must come back for it. */
export interface FuzzInput {
  readonly bytes: Buffer;
  /** Whether HTTP itself is kept: then an answer must come, and the connection can be used again. */
  readonly wellFormed: boolean;
  readonly isHead: boolean;
}

export interface FuzzKeys {
  readonly good: readonly string[];
  /** What every wrong key holds; nowhere may it come back. */
  readonly marker: string;
}

const ENDPOINTS = [
  'functions.invocation-stats',
  'logs.all',
  'usage.api-counts',
  '%6cogs.all',
  'LOGS.ALL',
  'none',
  '%FF',
  '..',
  '%2e%2e%2f',
  '%00',
  '__proto__',
  'ü',
];
const NAMES = [
  'project',
  'interval',
  'function_id',
  'project_tier',
  'iso_timestamp_start',
  'iso_timestamp_end',
  'source',
  'source_name',
  'collection',
  'sql',
  'format',
  '__proto__',
  'constructor',
  'project[]',
  'project[a]',
  '',
];
const VALUES = [
  'aurora',
  '',
  '5min',
  '1day',
  'hourly',
  'minutely',
  'daily',
  'PRO',
  '2026-11-20T07:00:00Z',
  '2026-11-20T07:00:00+01:00',
  '9999-99-99',
  "'",
  "';DROP TABLE edge_logs--",
  "\\'",
  '(',
  '(?:a{1000}){1000}',
  '[[:alpha:]]',
  '%',
  '%zz',
  '%00',
  '%ff',
  '@project',
  '{project:String}',
  '/*',
  '\u{1F600}',
  'a'.repeat(7_000),
  'a{1'.repeat(2_000),
  '\\p{'.repeat(2_000),
  '2026-'.repeat(1_400),
  'postgres.logs',
  'cloudflare.logs.prod',
  'no.such',
  'csv',
  'arrow',
];
// What most routes ask for, so that what else is sent is looked at.
const GOOD_QUERY = ['project=aurora', 'interval=hourly', 'source_name=postgres.logs', 'format=parquet'];
// Bodies of the longest texts that a parser is given.
const LONG_PATHS = [
  ...['usage.api-counts', 'usage.api-counts', 'logs.all', 'functions.invocation-stats'].map(
    (name) => `/api/endpoints/query/${name}`,
  ),
  ...['/api/logs?source_name=postgres.logs', '/v1/logs', '/api/keys', '/api/tokens'],
];
const METHODS = [
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'SEARCH',
  'LINK',
  'PURGE',
  'get',
  'NONSENSE',
];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: [
    '*/*',
    'application/json, text/event-stream',
    'application/json',
    'text/html',
    'text/csv',
    'application/json;q=0',
    ';;;',
    'a/b;q=x',
    ',',
  ],
  'accept-encoding': ['gzip', 'br;q=1', '*', ';'],
  'x-source': ['postgres.logs', 'no.such', '%ff', ''],
  'x-collection': ['gotrue.logs.prod', ''],
  'x-project': ['aurora', '', 'x'.repeat(5000), '\u00fc'],
  'idempotency-key': ['a', 'b', '', 'x'.repeat(300), '\u00ff'],
  'x-request-id': ['abc', 'x'.repeat(200), '<script>', ''],
  origin: ['https://a.example', 'null', ''],
  'access-control-request-method': ['POST', 'NONSENSE'],
  'if-none-match': ['*', '"x"'],
  range: ['bytes=0-1', 'bytes=9-'],
  expect: ['100-continue', 'nonsense'],
  connection: ['keep-alive', 'close', 'upgrade'],
  upgrade: ['websocket', 'h2c'],
  cookie: ['a=b', '='],
  'x-forwarded-for': ['1.2.3.4', 'x'],
  'x-forwarded-host': ['evil.example', '::'],
  'x-http-method-override': ['DELETE'],
};

const junk = fc.string({ unit: 'binary', maxLength: 20 });
// Most requests must come past Node's own parser, so what is written as it stands is mostly of what a URL may hold.
const tame = fc.string({ unit: fc.constantFrom(...'abc019%&=+?/.;:@[]{}()|<>"\'`~$!*,-_'), maxLength: 20 });
const encoded = fc
  .oneof(fc.constantFrom(...VALUES), junk, fc.string({ maxLength: 30 }))
  .chain((text) => fc.nat({ max: 40 }).map((raw) => (raw === 0 ? text : toQuery(text))));

/** Encoded as a careful client would; text that cannot be is left to the caller's mercy. */
function toQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

// Events may be sent to many paths that all do the same; the others are no less worth a try.
const ROUTES = [...ALLOWED_METHODS.keys()].flatMap((route) =>
  Array.from({ length: route.startsWith('/api/events') || route.startsWith('/logs') ? 1 : 6 }, () => route),
);
const ODD_PATHS = [
  ...['/', '//', '*', '', '/..', '/%', '/api', '/api/logs/', '//api/logs', '/api//logs', '/openapi.json'],
  ...[
    'http://other/health',
    '/health#x',
    '/health?',
    '/\u00ff',
    `/${'a/'.repeat(500)}`,
    `/${'x'.repeat(270_000)}`,
  ],
];

interface Place {
  readonly path: string;
  readonly method: string;
}

const anyMethod = fc.constantFrom('GET', 'POST', 'HEAD', ...METHODS);
const route = fc.constantFrom(...ROUTES).chain((path) => {
  const allowed = fc.constantFrom(...(ALLOWED_METHODS.get(path) ?? []));
  const method = fc.oneof({ weight: 12, arbitrary: allowed }, { weight: 1, arbitrary: anyMethod });
  return fc.record({ path: fc.constant(path), method });
});
const place: fc.Arbitrary<Place> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(route, fc.constantFrom(...ENDPOINTS))
      .map(([{ path, method }, endpoint]) => ({ path: path.replaceAll(/:\w+/g, endpoint), method })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(route, fc.nat(), fc.oneof({ weight: 8, arbitrary: tame }, { weight: 1, arbitrary: junk }))
      .map(([{ path, method }, at, text]) => {
        const cut = at % path.length;
        return { path: path.slice(0, cut) + text + path.slice(cut), method };
      }),
  },
  { weight: 1, arbitrary: fc.record({ path: fc.constantFrom(...ODD_PATHS), method: anyMethod }) },
);

function key({ good, marker }: FuzzKeys): fc.Arbitrary<readonly string[]> {
  const wrong = [
    marker,
    `tr_0123456789ab_${marker}`.padEnd(59, 'x'),
    `${marker}${'x'.repeat(2_000)}`,
    ` ${marker}`,
  ];
  const any = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  );
  return fc.oneof(
    { weight: 12, arbitrary: any.map((one) => [`x-api-key: ${one}`]) },
    { weight: 2, arbitrary: any.map((one) => [`authorization: Bearer ${one}`]) },
    {
      weight: 1,
      arbitrary: any.map((one) => [`authorization: Basic ${one}`, `x-api-key: ${one}`, `x-api-key: ${one}`]),
    },
    { weight: 1, arbitrary: fc.constant([]) },
  );
}

const headers = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .constantFrom(...Object.keys(HEADERS))
        .chain((name) => fc.constantFrom(...(HEADERS[name] ?? [])).map((value) => `${name}: ${value}`)),
    },
    { weight: 2, arbitrary: tame.map((text) => `x-junk: ${text}`) },
    { weight: 1, arbitrary: junk.map((text) => `${text}: x`) },
  ),
  { maxLength: 4 },
);

/** Requests of every route and around them; most keep HTTP's own form, the others do not. */
export function fuzzInput(keys: FuzzKeys): fc.Arbitrary<FuzzInput> {
  const keyInQuery = fc.constantFrom(...keys.good, keys.marker).map((one) => `api_key=${one}`);
  const pair = fc.tuple(fc.constantFrom(...NAMES), encoded).map(([name, value]) => `${name}=${value}`);
  const others = fc.array(
    fc.oneof(
      { weight: 12, arbitrary: pair },
      { weight: 1, arbitrary: keyInQuery },
      { weight: 1, arbitrary: tame },
    ),
    { maxLength: 5 },
  );
  const whole = fc.constantFrom([], GOOD_QUERY);
  const parts = fc.record({
    place,
    host: fc.nat({ max: 50 }).map((at) => (at === 0 ? [] : ['host: 127.0.0.1'])),
    whole,
    query: others,
    key: key(keys),
    headers,
    body: fc.option(fuzzBody, { freq: 3 }),
  });
  const request = parts.map(({ body, place: { path, method }, ...one }) => {
    const query = [...one.whole, ...one.query];
    const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
    const sent = method === 'GET' || method === 'HEAD' ? null : body;
    const lines = [`${method} ${target} HTTP/1.1`, ...one.host, ...one.key, ...one.headers];
    for (const [name, value] of sent?.headers ?? []) lines.push(`${name}: ${value}`);
    if (sent !== null) lines.push(`content-length: ${sent.bytes.length}`);
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
    return {
      bytes: Buffer.concat([head, sent?.bytes ?? Buffer.alloc(0)]),
      wellFormed: isWellFormed(lines, method),
      isHead: method === 'HEAD',
    };
  });
  const longPost = fc
    .tuple(
      fc.constantFrom(...LONG_PATHS),
      longMember,
      key(keys).filter((lines) => lines.length > 0),
    )
    .map(([path, text, keyLines]) => {
      const body = Buffer.from(text);
      const type = ['content-type: application/json', `content-length: ${body.length}`];
      const lines = [`POST ${path} HTTP/1.1`, 'host: 127.0.0.1', ...keyLines, ...type];
      const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
      return { bytes, wellFormed: true, isHead: false };
    });
  const damaged = fc
    .tuple(request, fc.nat(), fc.uint8Array({ maxLength: 20 }))
    .map(([{ bytes, isHead }, at, put]) => {
      const cut = at % (bytes.length + 1);
      return {
        bytes: Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(cut + put.length)]),
        wellFormed: false,
        isHead,
      };
    });
  const noise = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => ({ bytes: Buffer.from(bytes), wellFormed: false, isHead: false }));
  return fc.oneof(
    { weight: 15, arbitrary: request },
    { weight: 1, arbitrary: longPost },
    { weight: 2, arbitrary: damaged },
    { weight: 1, arbitrary: noise },
  );
}

const LINE = /^[\w!#$%&'*+.^`|~-]+: ?[\t\x20-\x7e\x80-\uffff]*$/u;

/** Whether Node's parser is sure to see one request here, whose end it knows. */
function isWellFormed([first = '', ...lines]: readonly string[], method: string): boolean {
  const sends = !/^(?:NONSENSE|get)$/.test(method);
  const switches = lines.some((line) =>
    /^(?:connection|upgrade): ?(?:close|upgrade|websocket|h2c)/i.test(line),
  );
  return (
    sends &&
    !switches &&
    /^[A-Z]+ (?:\/|\*$)[\x21-\x7e]* HTTP\/1\.1$/.test(first) &&
    lines.every((line) => LINE.test(line))
  );
}
