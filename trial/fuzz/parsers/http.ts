import { randomBytes } from 'node:crypto';
import acceptsPlugin from '@fastify/accepts';
import Fastify, { type FastifyRequest } from 'fastify';
import { HEADERS_CHARS_MAX, LISTED_CHARS_MAX } from '../../../src/http/listener.ts';
import { createCorsHead } from '../../../src/http/plugins/cors.ts';
import { createAddressReader, createRequestId } from '../../../src/http/plugins/observe.ts';
import { parseQueryString } from '../../../src/http/route.ts';
import { createTokens, looksLikeToken } from '../../../src/keys/token.ts';
import { createCursors } from '../../../src/query/cursor.ts';
import { SEARCH } from '../../../src/search/search.ts';
import { readKey } from '../../../src/serve/admit.ts';
import { isKnown } from '../../../src/serve/describe.ts';
import { chooseEncoding, chooseFormat, parseCacheControl, wantsTail } from '../../../src/serve/negotiate.ts';
import { distinct, type Parser, reader, rejecting, split } from '../parser.ts';

export const URL_CHARS_MAX = 262_144;

const secret = randomBytes(32);
const tokens = createTokens({ secret, now: () => 0 });
const cursors = createCursors(secret);
const pages = { by: [], size: 100, sources: [], canSkip: true, range: undefined, readsOnlyRange: false };
const paged = { ...SEARCH, pages };
const addressOf = createAddressReader('127.0.0.1,10.0.0.0/8,::1');
const cors = createCorsHead(Array.from({ length: 100 }, (_, i) => `https://page-${i}.example`).join(','));
const encode = (text: string) => Buffer.from(text).toString('base64url');

/** `request.accepts()` of the framework's plugin, for other headers. */
const accepts = await captureAccepts();

async function captureAccepts() {
  const app = Fastify();
  await app.register(acceptsPlugin);
  let captured: FastifyRequest | undefined;
  app.get('/', (request) => {
    captured = request;
    return {};
  });
  await app.inject('/');
  await app.close();
  const request = captured;
  if (request === undefined) throw new Error('the framework has answered without its handler');
  return (headers: Readonly<Record<string, string>>) =>
    request.accepts.call(Object.assign(Object.create(request), { raw: { headers } }));
}

const negotiate = (header: string) => (text: string) =>
  rejecting(() => {
    const one = accepts({ [header]: text });
    const tail = wantsTail({ accepts: one, endpoint: SEARCH, parameters: {} });
    return [tail, chooseEncoding(one), chooseFormat(one, SEARCH)];
  });

/** The members of a request that are read. */
const forwarded = (name: string, value: string) =>
  ({ headers: { [name]: value }, socket: { remoteAddress: '127.0.0.1' } }) as never;

const OF_LISTS = split('a/b;"¦,¦;¦a/b,¦a;q=1,¦*/*,¦"¦text/csv;q=0.¦ ¦=¦gzip;q=0,¦\t');

export const HTTP_PARSERS: Readonly<Record<string, Parser>> = {
  'query string': {
    charsMax: URL_CHARS_MAX,
    tokens: split('a¦a=1&¦&¦=¦%61¦%¦%e¦+¦%C3%A9¦%FF¦&='),
    shapes: { 'names that differ': distinct((i) => `a${i}=${'x'.repeat(255)}&`) },
    parse: parseQueryString,
  },
  'Cache-Control': reader(
    LISTED_CHARS_MAX,
    'max-age=¦, ¦,¦ ¦\t¦max-age = ¦no-cache¦no-¦"¦1¦,max-age=1 ¦no-store ¦\\¦"\\¦a="\\',
    parseCacheControl,
  ),
  Authorization: reader(HEADERS_CHARS_MAX, 'Bearer ¦ ¦a¦eyJ¦.¦a.¦\t', (text) =>
    looksLikeToken(readKey({ authorization: `Bearer ${text}` }) ?? text),
  ),
  'signed token': {
    charsMax: HEADERS_CHARS_MAX,
    tokens: split('eyJ¦.¦a¦-¦_¦e¦='),
    shapes: {
      'a nested header': (chars) => `${encode(`{"alg":"HS256","a":${'['.repeat(chars / 2)}`)}.e30.a`,
      'many members': (chars) =>
        `${encode(distinct((i) => `,"a${i}":1`, ['{"alg":"HS256"', '}'])(chars / 2))}.e30.a`,
      'critical members': (chars) =>
        `${encode(distinct((i) => `"a${i}",`, ['{"alg":"HS256","crit":[', '"a"]}'])(chars / 2))}.e30.a`,
    },
    parse: (text) => rejecting(() => tokens.read(text)),
  },
  cursor: {
    charsMax: URL_CHARS_MAX,
    tokens: split('.¦a¦W¦=¦-¦WyJ'),
    shapes: {
      'a nested position': (chars) => `${encode('['.repeat(Math.min(chars, 16_000) / 2))}.${'A'.repeat(22)}`,
    },
    parse: (text) => rejecting(() => cursors.read(paged, {}, { cursor: text })),
  },
  'If-None-Match': reader(HEADERS_CHARS_MAX, '"a",¦,¦ ¦W/¦"¦*¦W/"b",', (text) =>
    isKnown({ 'if-none-match': text }, '"b"'),
  ),
  Accept: { charsMax: LISTED_CHARS_MAX, tokens: OF_LISTS, parse: negotiate('accept') },
  'Accept-Encoding': { charsMax: LISTED_CHARS_MAX, tokens: OF_LISTS, parse: negotiate('accept-encoding') },
  'X-Forwarded-For': reader(
    LISTED_CHARS_MAX,
    '127.0.0.1,¦,¦ ¦::1,¦10.0.0.1 ,¦:¦1¦a¦::ffff:10.0.0.1,',
    (text) => rejecting(() => addressOf(forwarded('x-forwarded-for', text))),
  ),
  'X-Request-Id': reader(HEADERS_CHARS_MAX, 'a¦.¦-¦ ', (text) => createRequestId({ 'x-request-id': text })),
  Origin: reader(HEADERS_CHARS_MAX, 'https://¦a¦.¦,', (text) => cors?.(text)),
};
