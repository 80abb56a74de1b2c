import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { type BodyLimits, readBody } from '../../ingest/read-body.ts';

/**
 * Makes bodies of a media type arrive as what `decode` makes of their bytes, decompressed and within the limits. The bytes
 * themselves go along, since an Idempotency-Key is tied to them.
 */
export function addBodyParser<T extends object>(
  app: FastifyInstance,
  options: { type: string | RegExp; limits: BodyLimits; decode: (bytes: Buffer) => T },
): void {
  const { type, limits, decode } = options;
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const bytes = await readBody(payload, { encoding, length: Number(length) }, limits);
    return { bytes, ...decode(bytes) };
  });
}

/** A request's parsed body. @throws TailraceError `invalid_request` where none was sent: no parser is asked then */
export function getBody<T>(body: T | undefined): T {
  if (body !== undefined) return body;
  throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
}
