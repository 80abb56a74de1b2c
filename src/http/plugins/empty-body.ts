import type { FastifyInstance } from 'fastify';

/**
 * Reads an empty JSON body as no body at all. Many clients send `Content-Type: application/json` with every request, a
 * DELETE without a body among them, and Fastify's own parser answers those 400. Routes that need a body report by themselves
 * that it is missing.
 */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parse(request, body, done);
  });
}
