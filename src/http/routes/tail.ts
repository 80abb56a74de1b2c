import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Keyring } from '../../keys/keyring.ts';
import { readKey } from '../../serve/admit.ts';
import type { ResolvedTail } from '../../serve/resolve-tail.ts';
import type { TailRequest, Tails } from '../../tail/tails.ts';
import { EVENT_STREAM_HEAD, openEventStream } from '../event-stream.ts';
import { getCaller } from '../plugins/auth.ts';

export interface TailParts {
  readonly tails: Pick<Tails, 'open' | 'close'>;
  readonly keyring: Pick<Keyring, 'authenticate'>;
}

/** Responds with the events of a live tail. Failures before the first event are ordinary error responses. */
export async function sendTail(
  { tails, keyring }: TailParts,
  resolved: ResolvedTail & Pick<TailRequest, 'lane' | 'signal'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { headers, method } = request;
  const caller = getCaller(request);
  if (method === 'HEAD') return reply.headers(EVENT_STREAM_HEAD).send('');
  const authenticate = () => keyring.authenticate(readKey(headers));
  const tail = await tails.open({ ...resolved, caller, authenticate });
  reply.raw.once('close', tail.leave);
  if (reply.raw.destroyed) tail.leave();
  request.detail = { tail: true };
  request.responseMs = performance.now();
  tail.start(openEventStream(reply));
  return reply;
}
