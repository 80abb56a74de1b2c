import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../../people/credential.ts';
import type { ResolvedTail } from '../../serve/resolve-tail.ts';
import type { TailRequest, Tails } from '../../tail/tails.ts';
import { EVENT_STREAM_HEAD, openEventStream } from '../event-stream.ts';
import { getCaller } from '../plugins/auth.ts';

export interface TailParts {
  readonly tails: Pick<Tails, 'open' | 'close'>;
  readonly authenticator: Authenticator;
}

/** Responds with the events of a live tail. Failures before the first event are ordinary error responses. */
export async function sendTail(
  { tails, authenticator }: TailParts,
  resolved: ResolvedTail & Pick<TailRequest, 'lane' | 'signal'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { method, sent } = request;
  const caller = getCaller(request);
  if (method === 'HEAD') return reply.headers(EVENT_STREAM_HEAD).send('');
  const authenticate = () => authenticator.authenticate(sent);
  const tail = await tails.open({ ...resolved, caller, authenticate });
  reply.raw.once('close', tail.leave);
  if (reply.raw.destroyed) tail.leave();
  request.detail = { tail: true };
  request.responseMs = performance.now();
  tail.start(openEventStream(reply));
  return reply;
}
