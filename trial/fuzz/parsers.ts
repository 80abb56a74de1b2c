import { readDefinitions } from '../../src/definitions/read.ts';
import { HEADERS_CHARS_MAX } from '../../src/http/listener.ts';
import { parseQueryString } from '../../src/http/query-string.ts';
import { mergeParameters } from '../../src/http/routes/query.ts';
import { decodeBatch } from '../../src/ingest/decode-batch.ts';
import { parseTimestamp } from '../../src/ingest/event.ts';
import { INLINE_BYTES_MAX, INLINE_MARKS_MAX } from '../../src/ingest/ingest.ts';
import { type BodyFormat, countMarks } from '../../src/ingest/wire-events.ts';
import { looksLikeToken } from '../../src/keys/token.ts';
import { parseInstant } from '../../src/lib/instant.ts';
import { readKey } from '../../src/serve/admit.ts';
import { parseCacheControl } from '../../src/serve/resolve.ts';
import { createRewriter } from '../../src/sql/parameter.ts';
import { findPatternFault } from '../../src/sql/pattern.ts';
import { scanTokens } from '../../src/sql/token.ts';
import { PATTERN_TOKENS } from '../pattern-tokens.ts';

/** A reader of texts that callers send, which runs on the thread that answers requests. */
export interface Parser {
  /** Longest text that reaches it, UTF-16 units. */
  readonly charsMax: number;
  /** What its texts are made of. */
  readonly tokens: readonly string[];
  readonly parse: (text: string) => unknown;
}

const URL_CHARS_MAX = 262_144;
const PARAMETER_CHARS_MAX = 65_536;
const SQL_CHARS_MAX = 16_384;

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const source = definitions.sources.find(({ name }) => name === 'cloudflare.logs.prod') ?? fail();

const rules = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 1024 ** 2, project: 'p' };

const isolated = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return error; // a refusal is an answer, too
  }
};

/** A body as src/ingest/decoder.ts decodes it inline; for one that it passes to its thread, only the marks are counted. */
function body(format: BodyFormat, tokens: readonly string[]): Parser {
  return {
    charsMax: INLINE_BYTES_MAX,
    tokens,
    parse: (text) => {
      const bytes = Buffer.from(text, 'latin1');
      if (countMarks(bytes, format) > INLINE_MARKS_MAX) return undefined;
      return isolated(() => decodeBatch({ bytes, format, source, candidates: [], rules }));
    },
  };
}

export const PARSERS: Readonly<Record<string, Parser>> = {
  'query string': {
    charsMax: URL_CHARS_MAX,
    tokens: ['a', 'a=1&', '&', '=', '%61', '%', '%e', '+', '%C3%A9', '%FF', '&='],
    parse: parseQueryString,
  },
  'parameters in a body': {
    charsMax: URL_CHARS_MAX,
    tokens: ['[', '{"a":', '"', '1,', '"__proto__":', '\\u005f', '"a":"b",', ' ', '\\"', '{"constructor":'],
    parse: (text) => isolated(() => mergeParameters({ a: '1' }, JSON.parse(text), [])),
  },
  timestamp: {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['1', '2026-11-20', 'T', ' ', '-', ':', 'Z', '.', '+'],
    parse: parseInstant,
  },
  'timestamp of an event': {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['1', '2026-11-20', 'T', ' ', '.', '\\', '\u00a0'],
    parse: (text) => parseTimestamp(JSON.stringify(text)),
  },
  pattern: {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['a', ...PATTERN_TOKENS],
    parse: findPatternFault,
  },
  'tokens of SQL': {
    charsMax: SQL_CHARS_MAX,
    tokens: [
      "'",
      "''",
      "\\'",
      '"',
      '`',
      '$',
      '$a',
      '$a$',
      '--',
      '#!',
      '/*',
      '*/',
      '@',
      '@a',
      'a',
      ' ',
      '(',
      ',a',
      '\u2018',
      '\u201c',
      '\n',
      '\ud800',
    ],
    parse: (text) => [...scanTokens(text)],
  },
  'parameters of SQL': {
    charsMax: SQL_CHARS_MAX,
    tokens: ["'", '@a', '@a,', '/*', '\n@a', '$$', '@@a'],
    parse: (text) => createRewriter(text)(() => "'x'"),
  },
  'Cache-Control': {
    charsMax: HEADERS_CHARS_MAX,
    tokens: [
      'max-age=',
      ', ',
      ',',
      ' ',
      '\t',
      'max-age = ',
      'no-cache',
      'no-',
      '"',
      '1',
      ',max-age=1 ',
      'no-store ',
    ],
    parse: parseCacheControl,
  },
  Authorization: {
    charsMax: HEADERS_CHARS_MAX,
    tokens: ['Bearer ', ' ', 'a', 'eyJ', '.', 'a.', '\t'],
    parse: (text) => looksLikeToken(readKey({ authorization: `Bearer ${text}` }) ?? text),
  },
  'a body of JSON': body('json', [
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
    'null',
  ]),
  'a body of lines': body('ndjson', [
    '{}\n',
    '{"a":1}\n',
    '\n',
    '{',
    '1\n',
    '"',
    '[\n',
    ' ',
    '{"id":"\\u0061"}\n',
  ]),
  'a body of OTLP in JSON': body('otlp-json', [
    '{"resourceLogs":[',
    '{"scopeLogs":[',
    '{"logRecords":[',
    '{},',
    '{"body":{"arrayValue":{"values":[',
    '[',
    ' ',
  ]),
  'a body of OTLP': body('otlp-protobuf', [
    '\x0a',
    '\x0a\x00',
    '\x12\x00',
    '\x0a\x02\x0a\x00',
    '\xff',
    '\x0a\x02\x12\x00',
    '\x0b',
    '\x08\x01',
    '\x00',
    '\x32\x00',
    '1',
  ]),
};

function fail(): never {
  throw new Error('the edge source is not defined');
}
