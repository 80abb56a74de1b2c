import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { RawParameters } from '../../query/parameters.ts';
import { readKey } from '../../serve/admit.ts';
import type { createResolveTail } from '../../serve/resolve-tail.ts';
import type { Tails } from '../../tail/tails.ts';
import { EVENT_STREAM_HEAD, openEventStream } from '../event-stream.ts';
import { getCaller } from '../plugins/auth.ts';

export interface TailParts {
  readonly resolveTail: ReturnType<typeof createResolveTail>;
  readonly tails: Pick<Tails, 'open' | 'close'>;
  readonly keyring: Pick<Keyring, 'authenticate'>;
}

interface Followed {
  readonly endpoint: Endpoint;
  readonly parameters: RawParameters;
  readonly lane: string;
}

/** Responds with the events of a live tail. Failures before the first event are responses like any other. */
export async function sendTail(
  { resolveTail, tails, keyring }: TailParts,
  { endpoint, parameters, lane }: Followed,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { headers, method } = request;
  const caller = getCaller(request);
  const resolved = resolveTail({ caller, endpoint, parameters, headers });
  if (method === 'HEAD') return reply.headers(EVENT_STREAM_HEAD).send('');
  const authenticate = () => keyring.authenticate(readKey(headers));
  const tail = await tails.open({ ...resolved, caller, authenticate, lane });
  reply.raw.once('close', tail.leave);
  if (reply.raw.destroyed) tail.leave();
  request.detail = { tail: true };
  request.responseMs = performance.now();
  tail.start(openEventStream(reply));
  return reply;
}
