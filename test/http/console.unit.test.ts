import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import accepts from '@fastify/accepts';
import Fastify from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { sendError } from '../../src/http/plugins/errors.ts';
import { consoleRoutes, createNotFound, findConsole } from '../../src/http/routes/console.ts';
import { registerGroup } from '../../src/http/routes/index.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
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
  await registerGroup(app, consoleRoutes, findConsole(dir));
  afterAll(() => app.close());
  return app;
}
const app = await serve(folder.path);
afterAll(folder.remove);

describe('the pages', () => {
  test.each([
    ['/', 'console'],
    ['/endpoints/logs.all', 'console'],
    ['/keys', 'console'],
    ['/admin', 'console'],
    ['/send', 'console'],
    ['/sources', 'console'],
    ['/sources/postgres.logs', 'console'],
    ['/docs', 'console'],
  ])('%s is the %s, which may load nothing from elsewhere and run nothing of its own', async (url, title) => {
    const answer = await app.inject({ url });
    expect([answer.statusCode, answer.body]).toEqual([200, `<title>${title}</title>`]);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
  });

  test('are told to be missing where they are not built, with what builds them', async () => {
    const answer = await (await serve(join(folder.path, 'nothing'))).inject({ url: '/' });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({
      error: { message: expect.stringContaining('npm start builds it') },
    });
  });
});

describe('a path that nothing is served at', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

  test.each(['/nope', '/explore/x', '/endpoints', '/nope?q=/api/'])(
    '%s is a page for a browser, with status 404 and the headers of a page',
    async (url) => {
      const answer = await app.inject({ url, headers: { accept: BROWSER } });
      expect([answer.statusCode, answer.body]).toEqual([404, '<title>console</title>']);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept',
        'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
      });
    },
  );

  test.each([
    ['GET', '/nope', undefined],
    ['GET', '/nope', '*/*'],
    ['GET', '/nope', 'application/json'],
    ['GET', '/nope', 'application/json, text/html;q=0.9'],
    ['GET', '/nope', 'image/png'],
    ['POST', '/nope', BROWSER],
    ['GET', '/api/nope', BROWSER],
    ['GET', '/assets/nope.js', BROWSER],
  ] as const)('%s %s with Accept %s is the failure as JSON', async (method, url, accept) => {
    const answer = await app.inject({ method, url, headers: accept === undefined ? {} : { accept } });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining(url) },
    });
  });

  test('is JSON for a browser, too, if the console is not built', async () => {
    const bare = await serve(join(folder.path, 'nothing'));
    expect((await bare.inject({ url: '/nope', headers: { accept: BROWSER } })).json()).toMatchObject({
      error: { code: 'not_found' },
    });
  });
});

describe('their files', () => {
  const url = '/assets/index-abc.js';

  test('may be kept for ever, and go out compressed to whoever takes that', async () => {
    const packed = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(packed.headers['content-type']).toMatch(/^(text|application)\/javascript/);
    const whole = await app.inject({ url });
    expect([whole.body, whole.headers['content-encoding']]).toEqual(['let whole;', undefined]);
  });

  test.each(['/assets/nothing.js', '/assets/../index.html', '/assets/%2e%2e/index.html', '/assets/'])(
    '%s is none of them',
    async (path) => {
      expect((await app.inject({ url: path })).statusCode).toBeGreaterThanOrEqual(400);
    },
  );
});
