import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import serveFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { TailraceError } from '../../errors.ts';

/** Paths at which the console's page is served; the page itself shows what belongs there (console/src/page.ts). */
const CONSOLE_PATHS = ['/', '/endpoints/:endpoint', '/keys', '/sources', '/sources/:source'];
const DOCS_PATH = '/docs';
const ASSETS_PATH = '/assets/*';

export const PAGE_PATHS = [...CONSOLE_PATHS, DOCS_PATH, ASSETS_PATH];

/** What `npm run build:console` makes; as far above this file as above the built one. */
const CONSOLE_DIR = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

/** A page may load what this service serves and nothing else, and run nothing that stands in the page itself. */
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
  'cache-control': 'no-cache', // asked for anew each time, so that it names the files of this version
};

/**
 * The console and the reference of the API: files, open to all, the same for all. What they show comes from the API, with the
 * key of whoever looks at them. The names of files below /assets/ hold a hash of their content.
 *
 * @param dir where the built files are; without them these paths say how to build them
 */
export async function consoleRoutes(app: FastifyInstance, dir = CONSOLE_DIR): Promise<void> {
  const isBuilt = existsSync(join(dir, 'index.html'));
  if (isBuilt) {
    const assets = { root: join(dir, 'assets'), prefix: '/assets/', immutable: true, maxAge: '365d' };
    await app.register(serveFiles, { ...assets, preCompressed: true, index: false });
  }
  const send = (reply: FastifyReply, file: string) => {
    if (!isBuilt) {
      const message = 'the console is not built: npm start builds it, and so does npm run build:console';
      throw new TailraceError(
        'not_found',
        `${message}; endpoints are at /api/endpoints/query/<uuid or name>`,
      );
    }
    return reply.headers(PAGE_HEADERS).sendFile(file, dir, { cacheControl: false });
  };
  for (const path of CONSOLE_PATHS) app.get(path, (_request, reply) => send(reply, 'index.html'));
  app.get(DOCS_PATH, (_request, reply) => send(reply, 'docs.html'));
}
