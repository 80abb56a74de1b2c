import type { FastifyRequest } from 'fastify';
import type { Source } from '../../definitions/source.ts';
import type { WireEvent } from '../../ingest/decode-body.ts';
import type { Received } from '../../ingest/receive.ts';
import type { HttpContext } from '../context.ts';

export interface IngestRequest {
  readonly source: Source;
  readonly events: readonly WireEvent[];
  /** The body as it was after decompression. */
  readonly bytes: Uint8Array;
  readonly project: string;
}

/** Stores a request's events; with an Idempotency-Key, once however often the request comes. */
export async function storeOnce(
  request: FastifyRequest,
  { receive, idempotency }: HttpContext,
  { source, events, bytes, project }: IngestRequest,
): Promise<Received> {
  const key = headerText(request, 'idempotency-key');
  const work = (token?: string) => receive(source, events, { project, token });
  const scope = `${request.keyId}\0${source.id}\0${project}`;
  const received =
    key === undefined ? await work() : await idempotency.once({ key, scope, body: bytes }, work);
  request.detail = { source: source.name, stored: received.stored, refused: received.refused };
  return received;
}

/** A header's text; `undefined` where it is missing or empty. */
export function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
