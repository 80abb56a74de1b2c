import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Source } from '../../definitions/source.ts';
import type { SourceFields } from '../../ingest/choose-source.ts';
import type { Received } from '../../ingest/receive.ts';
import type { HttpContext } from '../context.ts';
import { getBody, type RawBody } from '../plugins/body.ts';

/** A request with events in its body. */
export type EventRequest = FastifyRequest<{
  Body: RawBody | undefined;
  Querystring: Record<string, unknown>;
}>;

/**
 * Stores a request's events; with an Idempotency-Key, once however often the request comes.
 *
 * @param choose the source, from the members of a body that is an object
 */
export async function takeEvents(
  request: EventRequest,
  { bodies, receive, idempotency, config }: HttpContext,
  choose: (fields: SourceFields) => Source,
): Promise<Received> {
  const { bytes, format } = getBody(request.body);
  const key = headerText(request, 'idempotency-key');
  const bodyHash = key === undefined ? '' : hash('sha256', bytes); // before the bytes are handed over
  const body = await bodies.open(bytes, format);
  try {
    const source = choose(body.fields);
    const project = headerText(request, 'x-project') ?? config.defaultProject;
    const work = (token?: string) => receive(source, body, { project, token });
    const scope = `${request.keyId}\0${source.id}\0${project}`;
    const received =
      key === undefined ? await work() : await idempotency.once({ key, scope, bodyHash }, work);
    request.detail = { source: source.name, stored: received.stored, refused: received.refused };
    return received;
  } finally {
    body.drop();
  }
}

/** A header's text; `undefined` where it is missing or empty. */
function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
