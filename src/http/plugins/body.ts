import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { type BodyLimits, readBody } from '../../ingest/read-body.ts';
import type { BodyFormat } from '../../ingest/wire-events.ts';

/** A body as it was after decompression. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly format: BodyFormat;
}

/** Makes bodies of a media type arrive decompressed and within the limits; their route reads them. */
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

/** A request's body. @throws TailraceError `invalid_request` where none was sent: no parser is asked then */
export function getBody<T>(body: T | undefined): T {
  if (body !== undefined) return body;
  throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
}
