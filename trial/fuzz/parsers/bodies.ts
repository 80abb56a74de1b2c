import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import Fastify, { type FastifyRequest } from 'fastify';
import { compressSync } from 'snappy';
import { readDefinitions } from '../../../src/definitions/read.ts';
import { hasTooManyValues } from '../../../src/http/json-values.ts';
import { compileValidator } from '../../../src/http/plugins/validation.ts';
import { pathsOf } from '../../../src/http/route.ts';
import { ROUTES } from '../../../src/http/routes/index.ts';
import { mergeParameters } from '../../../src/http/routes/query.ts';
import { decodeBatch } from '../../../src/ingest/decode-batch.ts';
import { INLINE_BYTES_MAX, INLINE_MARKS_MAX } from '../../../src/ingest/ingest.ts';
import { parseLabels } from '../../../src/ingest/protocols/loki/labels.ts';
import { type BodyFormat, countMarks } from '../../../src/ingest/wire-events.ts';
import { distinct, type Parser, refusing } from '../parser.ts';
import { URL_CHARS_MAX } from './http.ts';
import { nestedValues } from './protobuf.ts';

// Of the workbench; those of other routes are smaller (http/routes/).
const JSON_CHARS_MAX = 1024 * 1024;
const OF_OTHERS = 256 * 1024;

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const source = definitions.sources.find(({ name }) => name === 'cloudflare.logs.prod') ?? fail();
const rules = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 1024 ** 2, project: 'p' };

const JSON_TOKENS = [
  '[',
  '{"a":',
  '"',
  '1,',
  '"__proto__":',
  '\\u005f',
  '"a":"b",',
  ' ',
  '\\"',
  '{"constructor":',
  'e',
  '{"a":1},',
  '[],',
];
const JSON_NESTS = [
  ['[', ']'],
  ['{"a":', '}'],
  ['[{"":', '}]'],
] as const;
const MEMBERS = distinct((i) => `"a${i}":1,`, ['{', '"z":1}']);

const framework = Fastify();
const parseDefault = framework.getDefaultJsonParser('error', 'error');

/** As http/app.ts has it: the framework's parser, which refuses names of prototypes, for as many values as it is given. */
function parseJson(text: string): unknown {
  if (hasTooManyValues(text)) return undefined;
  let result: unknown;
  parseDefault({} as FastifyRequest, text, (error, value) => {
    result = error ?? value;
  });
  if (result instanceof Error) throw result;
  return result;
}

/** A body as src/ingest/decoder.ts decodes it inline; for one that it passes to its thread, only the marks are counted. */
function eventBody(
  format: BodyFormat,
  parser: Omit<Parser, 'charsMax' | 'parse'>,
  encode = (bytes: Buffer) => bytes,
): Parser {
  return {
    ...parser,
    charsMax: INLINE_BYTES_MAX,
    parse: (text) => {
      const bytes = encode(Buffer.from(text, 'latin1'));
      if (countMarks(bytes, format) > INLINE_MARKS_MAX) return undefined;
      return refusing(() => decodeBatch({ bytes, format, source, candidates: [], rules }));
    },
  };
}

/** The body of each route that has a schema, with each member as what it is not. */
function checkedBodies(): [string, Parser][] {
  return ROUTES.filter(({ body }) => body?.schema !== undefined).map((route) => {
    const [path = ''] = pathsOf(route);
    const schema = route.body?.schema ?? fail();
    const validate = compileValidator({ schema, method: route.method, url: path, httpPart: 'body' });
    const names = Object.keys((schema as { properties?: object }).properties ?? {}); // of a schema of an object
    const inMember = (name: string, part: (i: number) => string, [open, close]: [string, string]) =>
      distinct(part, [`{"${name}":${open}`, `"z"${close === '}' ? ':1' : ''}${close}}`]);
    const shapes = names.flatMap((name) => [
      [`${name}: a list of texts`, inMember(name, (i) => `"a${i}",`, ['[', ']'])] as const,
      [`${name}: a list of lists`, inMember(name, () => '[],', ['[', ']'])] as const,
      [`${name}: a map`, inMember(name, (i) => `"a${i}":[],`, ['{', '}'])] as const,
    ]);
    const charsMax = path.startsWith('/api/workbench') ? JSON_CHARS_MAX : OF_OTHERS;
    const parse = (text: string) => refusing(() => validate(parseJson(text)));
    const parser = {
      charsMax,
      tokens: ['{"a":', '['],
      shapes: { members: MEMBERS, ...Object.fromEntries(shapes) },
      parse,
    };
    return [`a body of ${route.method} ${path}`, parser];
  });
}

const server = () => new Server({ name: 'trial', version: '1' }, { capabilities: { tools: {} } });
const handler = createMcpHandler(server, { onerror: () => {} });
const message = (body: unknown) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers }), {
    parsedBody: body,
  });
};
const callOf = (value: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":${value}}}`;

/** The bodies of the other protocols. */
const PROTOCOL_PARSERS: Readonly<Record<string, Parser>> = {
  'a body of Loki in JSON': eventBody('loki-json', {
    tokens: [
      '{"streams":[',
      '{"stream":{"a":"b"},"values":[',
      '["1","x"],',
      '["1","x",{"a":"b"}],',
      '[],',
      '"',
      ' ',
    ],
    nests: [...JSON_NESTS, ['{"stream":{},"values":[', ']}']],
    frame: ['{"streams":[{"stream":{"a":"b"},"values":[', '["1","x"]]}]}'],
  }),
  'a body of Loki': eventBody(
    'loki-protobuf',
    { tokens: ['\x0a\x00', '\x0a\x02\x12\x00', '\x12\x00', '\x1a\x00', '\x0a\xff\xff\xff\x0f', '\x80', '1'] },
    compressSync,
  ),
  'a block of Snappy': eventBody('loki-protobuf', {
    tokens: ['\xff', '\x80', '\x00', '\xfc', '\xfe\x01\x00', '\x01\x01', '\xf0', 'a'],
    frame: ['\x80\x80\x04', ''],
  }),
  'the labels of Loki': {
    charsMax: INLINE_BYTES_MAX,
    tokens: ['a="b",', 'a', '=', '"', '\\"', '\\', ',', ' ', '{', '}', '`', 'a=`b`,', '\\x41', 'a:', '\n'],
    frame: ['{', 'a="b"}'],
    parse: (text) => refusing(() => parseLabels(text)),
  },
  'a body of Elasticsearch': eventBody('elasticsearch-bulk', {
    tokens: ['{"index":{}}\n{}\n', '{"delete":{}}\n', '{"index":{}}\n', '{"a":', '[', '\n', '"', ' ', '\r\n'],
    nests: JSON_NESTS,
    shapes: { members: distinct((i) => `"a${i}":1,`, ['{"index":{}}\n{', '"z":1}\n']) },
    frame: ['{"index":{}}\n', ''],
  }),
  'a body of Splunk': eventBody('splunk-events', {
    tokens: [
      '{"event":"a"}',
      '{"event":{',
      '{',
      '}',
      '"',
      '\\',
      ' ',
      '\n',
      '{"event":',
      '{"fields":{"a":1},"event":1}',
    ],
    nests: [...JSON_NESTS, ['{"event":{"message":', '}}']],
    shapes: { members: distinct((i) => `"a${i}":1,`, ['{"event":{', '"z":1}}']) },
  }),
  'lines of Splunk': eventBody('splunk-lines', { tokens: ['a\n', '\n', ' ', '"', '\xe4', '\r\n'] }),
  'a body of Datadog': eventBody('datadog-json', {
    tokens: ['{"message":"a"},', '[', '{"ddtags":"a:b,c"},', '1,', '"', ' ', '{"a":'],
    nests: JSON_NESTS,
    shapes: {
      'many tags': (chars) => `[{"ddtags":"${'a:b,'.repeat(chars / 4 - 8)}"}]`,
      'many different tags': distinct((i) => `a${i}:,`, ['[{"ddtags":"', '"}]']),
    },
    frame: ['[', '{}]'],
  }),
  'a body of Vercel': eventBody('vercel-json', {
    tokens: ['{"message":"a"},', '{"id":"1","proxy":{', '[', '1,', '"', ' ', '{"a":', '}'],
    nests: JSON_NESTS,
    shapes: { members: distinct((i) => `"a${i}":1,`, ['[{', '"z":1}]']) },
    frame: ['[', '{}]'],
  }),
  'lines of Vercel': eventBody('vercel-lines', {
    tokens: ['{"a":1}\n', '\n', '{', '"', ' ', '\xe4', '\r\n'],
  }),
  'lines of Logpush': eventBody('logpush', {
    tokens: ['{"Message":"a"}\n', '{"content":"tests"}\n', '{"Timestamp":', '\n', '{', '"', ' ', '\xe4'],
    shapes: { members: distinct((i) => `"a${i}":1,`, ['{', '"z":1}']) },
  }),
  'a body of Firehose': eventBody('firehose', {
    tokens: ['{"data":"YQo="},', '{"data":"eyJhIjoxfQo="},', '{"data":"H4sI"},', '{}', ',', '"', ' ', 'CgoK'],
    shapes: {
      'lines of a record': (chars) => `{"data":"${'YQph'.repeat(chars / 4 - 4)}"}`,
      'records without data': (chars) =>
        Array(Math.floor(chars / 3))
          .fill('{}')
          .join(','),
    },
    frame: ['{"records":[', ']}'],
  }),
  'a frame of syslog': eventBody(
    'syslog',
    {
      tokens: [
        '<13>1 - h a - - ',
        '[a b="c"]',
        '[a ',
        ' b="',
        '\\"',
        '"',
        ']',
        'Jan  1 10:00:00 ',
        ' ',
        'x',
        ':',
        '<13>',
        '\0',
        '\r\n',
      ],
      shapes: {
        'what ends a line, within it': (chars) => `<13>${'\0'.repeat(chars - 5)}x`,
        'much structured data': distinct((i) => `[a${i} b="c"]`, ['<13>1 - h a - - ', ' x']),
        'a long parameter': (chars) => `<13>1 - h a - - [a b="${'\\"'.repeat(chars / 2 - 20)}"] x`,
        'structured data without an end': (chars) => `<13>1 - h a - - [a${' b="c"'.repeat(chars / 6 - 4)}`,
      },
    },
    (line) => Buffer.concat([Buffer.from(`${line.length} `), line]),
  ),
  'frames of Heroku': eventBody('heroku', {
    tokens: ['30 <1>1 2026-11-20T00:00:00Z h a p - ', '1 a', '0 ', '99999999 ', ' ', '5 <1>1 ', '\xe4', '\n'],
  }),
};

export const BODY_PARSERS: Readonly<Record<string, Parser>> = {
  'a body of JSON values': {
    charsMax: JSON_CHARS_MAX,
    tokens: JSON_TOKENS,
    nests: JSON_NESTS,
    shapes: { members: MEMBERS, 'a long number': (chars) => `[${'9'.repeat(chars - 2)}]` },
    parse: (text) => refusing(() => parseJson(text)),
  },
  'parameters in a body': {
    charsMax: URL_CHARS_MAX,
    tokens: JSON_TOKENS,
    nests: JSON_NESTS,
    shapes: {
      members: distinct((i) => `"a${i}":"${'x'.repeat(240)}",`, ['{', '"z":"1"}']),
      'one name again': (chars) => `{${'"a":"b",'.repeat(chars / 8 - 1)}"a":"b"}`,
    },
    parse: (text) => refusing(() => mergeParameters({ a: '1' }, parseJson(text), [])),
  },
  ...Object.fromEntries(checkedBodies()),
  ...PROTOCOL_PARSERS,
  'a message of an agent': {
    charsMax: URL_CHARS_MAX,
    tokens: ['{"jsonrpc":"2.0",', '"id":', '"method":"tools/list",', '1', '"params":{"_meta":{'],
    shapes: {
      'nested arguments': (chars) => callOf(`${'{"a":'.repeat(chars / 7)}1${'}'.repeat(chars / 7)}`),
      'nested lists': (chars) => callOf(`{"a":${'['.repeat(chars / 3)}${']'.repeat(chars / 3)}}`),
      'many arguments': (chars) => callOf(MEMBERS(chars - 200)),
      'many members': (chars) =>
        distinct((i) => `,"a${i}":1`, ['{"jsonrpc":"2.0","id":1,"method":"tools/list"', '}'])(chars),
      'a long method': (chars) => `{"jsonrpc":"2.0","id":1,"method":"${'a'.repeat(chars - 100)}"}`,
    },
    parse: (text) => refusing(() => message(parseJson(text))),
  },
  'a body of JSON': eventBody('json', {
    tokens: [
      ...[
        '[',
        '{',
        '"a":',
        '{"a":',
        '1',
        '[],',
        '"',
        '\\',
        '\\"',
        '{"":1},',
        ' ',
        'e',
        '-',
        '\\u0061',
        '{"batch":[',
      ],
      'null',
    ],
    nests: [...JSON_NESTS, ['{"metadata":', '}']],
    shapes: {
      members: MEMBERS,
      'a long message': (chars) => `{"event_message":"${'\\n'.repeat(chars / 2 - 20)}"}`,
      'a long number': (chars) => `{"timestamp":${'1'.repeat(chars - 20)}}`,
      'a long time': (chars) => `{"timestamp":"${'2026-'.repeat(chars / 5 - 5)}"}`,
    },
  }),
  'a body of lines': eventBody('ndjson', {
    tokens: ['{}\n', '{"a":1}\n', '\n', '{', '1\n', '"', '[\n', ' ', '{"id":"\\u0061"}\n', '\r\n', '\t'],
    nests: JSON_NESTS,
  }),
  'a body of OTLP in JSON': eventBody('otlp-json', {
    tokens: [
      '{"resourceLogs":[',
      '{"scopeLogs":[',
      '{"logRecords":[',
      '{},',
      '{"body":{"arrayValue":{"values":[',
      '[',
      ' ',
    ],
    nests: [
      ['{"arrayValue":{"values":[', ']}}'],
      ['{"kvlistValue":{"values":[{"key":"a","value":', '}]}}'],
    ],
    frame: ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":', '}]}]}]}'],
  }),
  'a body of OTLP': eventBody('otlp-protobuf', {
    tokens: [
      ...[
        '\x0a',
        '\x0a\x00',
        '\x12\x00',
        '\x0a\x02\x0a\x00',
        '\xff',
        '\x0a\x02\x12\x00',
        '\x0b',
        '\x08\x01',
        '\x00',
      ],
      ...['\x32\x00', '1', '\x0a\xff\xff\xff\x0f', '\x2a\x00', '\x80'],
    ],
    shapes: { 'nested lists': nestedValues('list'), 'nested maps': nestedValues('map') },
  }),
};

function fail(): never {
  throw new Error('what the trial needs is not there');
}
