import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import Fastify, { type FastifyRequest } from 'fastify';
import { compressSync } from 'snappy';
import { readDefinitions } from '../../../src/definitions/read.ts';
import { TailraceError } from '../../../src/errors.ts';
import { hasTooManyValues } from '../../../src/http/json-body.ts';
import { compileValidator } from '../../../src/http/plugins/checks.ts';
import { ROUTES } from '../../../src/http/routes/index.ts';
import { mergeParameters } from '../../../src/http/routes/query.ts';
import type { BodyFormat } from '../../../src/ingest/body-format.ts';
import { decodeBatch } from '../../../src/ingest/decode-batch.ts';
import { DECODER_LIMITS } from '../../../src/ingest/decoder.ts';
import { parseLabels } from '../../../src/ingest/protocols/loki-labels.ts';
import { countMarks } from '../../../src/ingest/wire-events.ts';
import { protobufField } from '../../protobuf-field.ts';
import { distinct, nest, type Parser, rejecting, split } from '../parser.ts';
import { URL_CHARS_MAX } from './http.ts';

// Of the workbench; those of other routes are smaller (http/routes/).
const JSON_CHARS_MAX = 1024 * 1024;
const OTHER_CHARS_MAX = 256 * 1024;

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const source = definitions.sources.find(({ name }) => name === 'cloudflare.logs.prod');
const rules = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 1024 ** 2, project: 'p' };

const JSON_TOKENS = split(
  '[¦{"a":¦"¦1,¦"__proto__":¦\\u005f¦"a":"b",¦ ¦\\"¦{"constructor":¦e¦{"a":1},¦[],¦\n¦-¦{"":1},¦null¦}',
);
const JSON_NESTS = nest('[…]¦{"a":…}¦[{"":…}]');
const membersIn = (before: string, after: string) => distinct((i) => `"a${i}":1,`, [before, after]);
const MEMBERS = membersIn('{', '"z":1}');

const parseDefault = Fastify().getDefaultJsonParser('error', 'error');

/** As http/app.ts has it: the framework's parser, which rejects names of prototypes, for as many values as it is given. */
function parseJson(text: string): unknown {
  if (hasTooManyValues(text)) return undefined;
  let result: unknown;
  parseDefault({} as FastifyRequest, text, (error, value) => {
    result = error ?? value;
  });
  if (result instanceof Error) throw result;
  return result;
}

/** Decodes a body. @returns how many events are accepted @throws what no protocol has a response for */
export function decodeBody(format: BodyFormat, bytes: Buffer): number {
  try {
    const { parts } = decodeBatch({ bytes, format, source, candidates: [], rules });
    return parts.reduce((sum, { stored }) => sum + stored, 0);
  } catch (error) {
    if (error instanceof TailraceError && ['invalid_request', 'body_too_large'].includes(error.code))
      return 0;
    throw error;
  }
}

/** A body as src/ingest/decoder.ts decodes it inline; for one that it passes to its thread, only the marks are counted. */
function eventBody(
  format: BodyFormat,
  parser: Omit<Parser, 'charsMax' | 'parse'>,
  encode = (bytes: Buffer) => bytes,
): Parser {
  return {
    ...parser,
    charsMax: DECODER_LIMITS.inlineBytesMax,
    parse: (text) => {
      const bytes = encode(Buffer.from(text, 'latin1'));
      return countMarks(bytes, format) > DECODER_LIMITS.inlineMarksMax
        ? undefined
        : decodeBody(format, bytes);
    },
  };
}

/** The body of each route that has a schema, with each member as what it is not. */
function checkedBodies(): [string, Parser][] {
  return ROUTES.flatMap((route): [string, Parser][] => {
    const [path = ''] = route.paths;
    const schema = route.body?.schema;
    if (schema === undefined) return [];
    const validate = compileValidator({ schema, method: route.method, url: path, httpPart: 'body' });
    const names = Object.keys((schema as { properties?: object }).properties ?? {}); // of a schema of an object
    const shapes = names.flatMap((name) => [
      [`${name}: a list of texts`, distinct((i) => `"a${i}",`, [`{"${name}":[`, '"z"]}'])] as const,
      [`${name}: a list of lists`, distinct(() => '[],', [`{"${name}":[`, '[]]}'])] as const,
      [`${name}: a map`, distinct((i) => `"a${i}":[],`, [`{"${name}":{`, '"z":1}}'])] as const,
    ]);
    const parser = {
      charsMax: path.startsWith('/api/workbench') ? JSON_CHARS_MAX : OTHER_CHARS_MAX,
      tokens: ['{"a":', '['],
      shapes: { members: MEMBERS, ...Object.fromEntries(shapes) },
      parse: (text: string) => rejecting(() => validate(parseJson(text))),
    };
    return [[`a body of ${route.method} ${path}`, parser]];
  });
}

const server = () => new Server({ name: 'trial', version: '1' }, { capabilities: { tools: {} } });
const handler = createMcpHandler(server, { onerror: () => {} });
const message = (body: unknown) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  return handler.fetch(request, { parsedBody: body });
};
const callOf = (value: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":${value}}}`;

const LEVELS_MAX = 6_000;

/** A record of OTLP whose body is a list in a list, or a map in a map; right lengths, so that all of it is read. */
function nestedValues(kind: 'list' | 'map'): (chars: number) => string {
  const wrap = (value: Buffer) =>
    kind === 'list'
      ? protobufField(5, protobufField(1, value))
      : protobufField(6, protobufField(1, protobufField(2, value)));
  return (chars) => {
    let value: Buffer = Buffer.alloc(0);
    for (let level = 0; value.length < chars - 100 && level < LEVELS_MAX; level++) value = wrap(value);
    return protobufField(1, protobufField(2, protobufField(2, protobufField(5, value)))).toString('latin1');
  };
}

/** Each format of events' bodies, as its senders write it. */
export const EVENT_PARSERS = {
  json: eventBody('json', {
    tokens: [...JSON_TOKENS, '{"batch":['],
    nests: [...JSON_NESTS, ...nest('{"metadata":…}')],
    shapes: {
      members: MEMBERS,
      'one key again and again': distinct(() => '"a":1,', ['{', '"a":1}']),
      'a long message': (chars) => `{"event_message":"${'\\n'.repeat(chars / 2 - 20)}"}`,
      'a long number': (chars) => `{"timestamp":${'1'.repeat(chars - 20)}}`,
      'a long time': (chars) => `{"timestamp":"${'2026-'.repeat(chars / 5 - 5)}"}`,
    },
  }),
  ndjson: eventBody('ndjson', {
    tokens: split('{}\n¦{"a":1}\n¦\n¦{¦1\n¦"¦[\n¦ ¦{"id":"\\u0061"}\n¦\r\n¦\t'),
    nests: JSON_NESTS,
  }),
  'otlp-json': eventBody('otlp-json', {
    tokens: split(
      '{"resourceLogs":[¦{"scopeLogs":[¦{"logRecords":[¦{},¦{"body":{"arrayValue":{"values":[¦[¦ ',
    ),
    nests: nest('{"arrayValue":{"values":[…]}}¦{"kvlistValue":{"values":[{"key":"a","value":…}]}}'),
    frame: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":', '}]}]}]}'],
  }),
  'otlp-protobuf': eventBody('otlp-protobuf', {
    tokens: split(
      '\x0a¦\x0a\x00¦\x12\x00¦\x0a\x02\x0a\x00¦\xff¦\x0a\x02\x12\x00¦\x0b¦\x08\x01¦\x00¦\x32\x00¦1¦\x0a\xff\xff\xff\x0f¦\x2a\x00¦\x80',
    ),
    shapes: { 'nested lists': nestedValues('list'), 'nested maps': nestedValues('map') },
  }),
  'loki-json': eventBody('loki-json', {
    tokens: split('{"streams":[¦{"stream":{"a":"b"},"values":[¦["1","x"],¦["1","x",{"a":"b"}],¦[],¦"¦ '),
    nests: [...JSON_NESTS, ...nest('{"stream":{},"values":[…]}')],
    frame: ['{"streams":[{"stream":{"a":"b"},"values":[', '["1","x"]]}]}'],
  }),
  'loki-protobuf': eventBody(
    'loki-protobuf',
    { tokens: split('\x0a\x00¦\x0a\x02\x12\x00¦\x12\x00¦\x1a\x00¦\x0a\xff\xff\xff\x0f¦\x80¦1') },
    compressSync,
  ),
  'a block of Snappy': eventBody('loki-protobuf', {
    tokens: split('\xff¦\x80¦\x00¦\xfc¦\xfe\x01\x00¦\x01\x01¦\xf0¦a'),
    frame: ['\x80\x80\x04', ''],
  }),
  'elasticsearch-bulk': eventBody('elasticsearch-bulk', {
    tokens: split('{"index":{}}\n{}\n¦{"delete":{}}\n¦{"index":{}}\n¦{"a":¦[¦\n¦"¦ ¦\r\n'),
    nests: JSON_NESTS,
    shapes: { members: membersIn('{"index":{}}\n{', '"z":1}\n') },
    frame: ['{"index":{}}\n', ''],
  }),
} as const satisfies Readonly<Record<string, Parser>>;

export const BODY_PARSERS: Readonly<Record<string, Parser>> = {
  'a body of JSON values': {
    charsMax: JSON_CHARS_MAX,
    tokens: JSON_TOKENS,
    nests: JSON_NESTS,
    shapes: { members: MEMBERS, 'a long number': (chars) => `[${'9'.repeat(chars - 2)}]` },
    parse: (text) => rejecting(() => parseJson(text)),
  },
  'parameters in a body': {
    charsMax: URL_CHARS_MAX,
    tokens: JSON_TOKENS,
    nests: JSON_NESTS,
    shapes: {
      members: distinct((i) => `"a${i}":"${'x'.repeat(240)}",`, ['{', '"z":"1"}']),
      'one name again': distinct(() => '"a":"b",', ['{', '"a":"b"}']),
    },
    parse: (text) => rejecting(() => mergeParameters({ a: '1' }, parseJson(text), [])),
  },
  ...Object.fromEntries(checkedBodies()),
  ...Object.fromEntries(Object.entries(EVENT_PARSERS).map(([name, parser]) => [`events: ${name}`, parser])),
  'the labels of Loki': {
    charsMax: DECODER_LIMITS.inlineBytesMax,
    tokens: split('a="b",¦a¦=¦"¦\\"¦\\¦,¦ ¦{¦}¦`¦a=`b`,¦\\x41¦a:¦\n'),
    frame: ['{', 'a="b"}'],
    parse: (text) => rejecting(() => parseLabels(text)),
  },
  'a message of an agent': {
    charsMax: URL_CHARS_MAX,
    tokens: split('{"jsonrpc":"2.0",¦"id":¦"method":"tools/list",¦1¦"params":{"_meta":{'),
    shapes: {
      'nested arguments': (chars) => callOf(`${'{"a":'.repeat(chars / 7)}1${'}'.repeat(chars / 7)}`),
      'nested lists': (chars) => callOf(`{"a":${'['.repeat(chars / 3)}${']'.repeat(chars / 3)}}`),
      'many arguments': (chars) => callOf(MEMBERS(chars - 200)),
      'many members': distinct((i) => `,"a${i}":1`, ['{"jsonrpc":"2.0","id":1,"method":"tools/list"', '}']),
      'a long method': (chars) => `{"jsonrpc":"2.0","id":1,"method":"${'a'.repeat(chars - 100)}"}`,
    },
    parse: (text) => rejecting(() => message(parseJson(text))),
  },
};
