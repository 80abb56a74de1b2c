import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { type BodyLimits, readBody } from '../../ingest/read-body.ts';
import type { BodyFormat } from '../../ingest/wire-events.ts';

/** A request body with events, decompressed. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly format: BodyFormat;
}

/** Adds a parser that decompresses bodies of a media type within the limits; their route decodes them. */
export function addBodyParser(
  app: FastifyInstance,
  { type, format, limits }: { type: string | RegExp; format: BodyFormat; limits: BodyLimits },
): void {
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const bytes = await readBody(payload, { encoding, length: Number(length) }, limits);
    return { bytes, format } satisfies RawBody;
  });
}

/** A request's body. @throws TailraceError `invalid_request` if there is none: no parser runs then */
export function getBody<T>(body: T | undefined): T {
  if (body !== undefined) return body;
  throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
}

/**
 * Reads an empty JSON body as no body at all. Many clients send `Content-Type: application/json` with every request, also with a
 * DELETE without a body, and Fastify's own parser refuses those with 400. Routes that need a body report that it is missing.
 */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parse(request, body, done);
  });
}
