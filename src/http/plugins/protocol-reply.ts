import type { FastifyReply } from 'fastify';
import type { ProtocolReply } from '../../ingest/protocols/protocol.ts';

/** Sends a response of a protocol. */
export function sendProtocolReply(
  reply: FastifyReply,
  { status, headers = {}, type = 'application/json', body }: ProtocolReply,
): FastifyReply {
  reply.code(status).headers(headers);
  if (body === undefined) return reply.send();
  // As bytes: the framework would add `charset` to the type of a text, and quote the parameters that some clients compare.
  reply.header('content-type', type);
  return reply.send(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}
