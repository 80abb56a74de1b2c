import type { FastifyReply } from 'fastify';

/**
 * Aborts when the caller hangs up before its answer is out. Fastify's `request.signal` does so as soon as a body has been
 * read to its end, so it cannot be used where there is one.
 */
export function createHangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
