import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import serveFiles from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import {
  describeProduct,
  isElasticsearchClient,
  rejectUnknownPath,
} from '../../ingest/protocols/elasticsearch.ts';
import type { AppParts, BuiltConsole } from '../parts.ts';
import { noteFailure, sendProtocolReply } from '../plugins/errors.ts';
import { defineRoute, type RouteGroup } from '../route.ts';

/** The output of `npm run build:console`; as far above this file as above the built one. */
const CONSOLE_DIR = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

/** A page may load only what this service serves, and run no inline code. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache', // revalidated each time, so that a page names the files of this version
};

export function findConsole(dir = CONSOLE_DIR): BuiltConsole {
  return { dir, isBuilt: existsSync(join(dir, 'index.html')) };
}

/** Pages about a definition. */
const SHOWN_PAGES = ['/endpoints/:endpoint', '/sources', '/sources/:source'];
/** What docs/api.md says of pages, and their paths; each is a page of console/src/page.ts. */
const PAGES: readonly (readonly [summary: string, ...paths: string[]])[] = [
  ['[The console](console.md)', '/', '/explore', '/workbench', '/keys', '/send', ...SHOWN_PAGES],
  ['Its alerts', '/alerts', '/alerts/:alert', '/workbench/alert'],
  ['Its page for operators', '/admin'],
  ['Its [dashboards](dashboards.md)', '/dashboards', '/dashboards/:dashboard'],
  ['Its sessions', '/sessions'],
  ['The reference of this API', '/docs'],
];

/**
 * Serves the console: static files that need no key. They load data from the API, with the key of the reader. The names
 * of files below /assets/ contain a hash of their content.
 */
export const consoleRoutes: RouteGroup = {
  async setup(app, { pages: { dir, isBuilt } }) {
    if (!isBuilt) return;
    const assets = { root: join(dir, 'assets'), prefix: '/assets/', immutable: true, maxAge: '365d' };
    await app.register(serveFiles, { ...assets, preCompressed: true, index: false });
  },
  routes: [
    ...PAGES.map(([summary, ...paths]) =>
      defineRoute(
        paths.map((path) => `GET ${path}` as const),
        'none',
        { summary, handle: servePage },
      ),
    ),
    // Served by @fastify/static.
    defineRoute('GET /assets/*', 'none', { summary: 'Files of the pages' }),
  ],
};

function servePage({ pages }: AppParts, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isClient = request.routeOptions.url === '/' && isElasticsearchClient(request);
  return isClient ? sendProtocolReply(reply, describeProduct(request)) : sendPage(reply, pages);
}

/** Paths below which 404 is JSON for browsers, too: it says what is served there. */
const NEVER_PAGES = ['/api/', '/assets/'];

/**
 * Responds to an unknown path with 404: a browser gets the console, which says so and has a navigation; clients of
 * Elasticsearch get its form, others the failure as JSON.
 */
export function createNotFound({ dir, isBuilt }: BuiltConsole) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = (request.url.split('?')[0] ?? '').slice(0, PATH_CHARS_MAX);
    const failure = new TailraceError('not_found', `nothing is served at ${path}; ${adviseOf(path)}`);
    const own = rejectUnknownPath(path, request, failure);
    if (own !== undefined) {
      noteFailure(failure, request);
      return sendProtocolReply(reply, own);
    }
    const isPage = isBuilt && request.method === 'GET' && !NEVER_PAGES.some((one) => path.startsWith(one));
    // `*/*` prefers neither, and is JSON.
    if (!isPage || request.accepts().type(['json', 'html']) !== 'html') throw failure;
    noteFailure(failure, request);
    const page = await readFile(join(dir, 'index.html'));
    return reply.code(404).headers(PAGE_HEADERS).header('vary', 'accept').type(HTML).send(page);
  };
}

/** Says what is served instead of a path. */
function adviseOf(path: string): string {
  const [, signal] = /^\/v1\/(traces|metrics)\/?$/.exec(path) ?? [];
  if (signal === undefined) return 'endpoints are at /api/endpoints/query/<uuid or name>';
  return (
    `OpenTelemetry's logs are accepted at /v1/logs, its ${signal} are not: switch their exporter ` +
    `off, such as OTEL_${signal.toUpperCase()}_EXPORTER=none`
  );
}

const HTML = 'text/html; charset=utf-8';
/** A message shows at most this much of a path. */
const PATH_CHARS_MAX = 100;

function sendPage(reply: FastifyReply, { dir, isBuilt }: BuiltConsole): FastifyReply {
  if (isBuilt) return reply.headers(PAGE_HEADERS).sendFile('index.html', dir, { cacheControl: false });
  const message = 'the console is not built: npm start builds it, and so does npm run build:console';
  throw new TailraceError('not_found', `${message}; endpoints are at /api/endpoints/query/<uuid or name>`);
}
