import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import accepts from '@fastify/accepts';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import type { AppParts } from '../../src/http/parts.ts';
import { sendError } from '../../src/http/plugins/errors.ts';
import { consoleRoutes, createNotFound, findConsole } from '../../src/http/routes/console.ts';
import { registerGroup } from '../../src/http/routes/index.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
await mkdir(join(folder.path, 'assets'));
await writeFile(join(folder.path, 'index.html'), '<title>console</title>');
await writeFile(join(folder.path, 'assets/index-abc.js'), 'let whole;');
await writeFile(join(folder.path, 'assets/index-abc.js.gz'), gzipSync('let packed;'));

/** The routes alone, on files of the test's own. */
async function serve(dir: string) {
  const app = Fastify();
  app.setErrorHandler<Error>((error, request, reply) => sendError(error, request, reply));
  await app.register(accepts);
  app.setNotFoundHandler(createNotFound(findConsole(dir)));
  await registerGroup(app, consoleRoutes, { pages: findConsole(dir) } as AppParts);
  afterAll(() => app.close());
  return app;
}
const app = await serve(folder.path);

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test.each([
  ['/', 200],
  ['/sources/postgres.logs', 200],
  ['/nope', 404],
  ['/nope?q=/api/', 404],
])(
  '%s is the page for a browser, with status %i, which may load nothing from elsewhere',
  async (url, status) => {
    const answer = await app.inject({ url, headers: { accept: BROWSER } });
    expect([answer.statusCode, answer.body]).toEqual([status, '<title>console</title>']);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
  },
);

test('a console that is not built is missing, with the command that builds it', async () => {
  const answer = await (await serve(join(folder.path, 'nothing'))).inject({ url: '/' });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: { message: expect.stringContaining('npm start builds it') } });
});

test.each([
  ['GET', '/nope', 'application/json, text/html;q=0.9'],
  ['POST', '/nope', BROWSER],
  ['GET', '/api/nope', BROWSER],
  ['GET', '/assets/nope.js', BROWSER],
] as const)('%s %s with Accept %s is the failure as JSON', async (method, url, accept) => {
  const answer = await app.inject({ method, url, headers: { accept } });
  expect(answer.statusCode).toBe(404);
  const error = { code: 'not_found', message: expect.stringContaining(url) };
  expect(answer.json()).toMatchObject({ error });
});

test('its files are kept for ever, and compressed for a caller that accepts it; no other file is served', async () => {
  const url = '/assets/index-abc.js';
  const packed = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  const whole = await app.inject({ url });
  expect([whole.body, whole.headers['content-encoding']]).toEqual(['let whole;', undefined]);
  for (const path of ['/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/'])
    expect((await app.inject({ url: path })).statusCode).toBeGreaterThanOrEqual(400);
});
