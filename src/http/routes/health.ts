import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { HttpContext } from '../context.ts';

/**
 * `/health`: the process answers. `/ready`: it may serve; 503 while it starts or stops. What an operator has to see to is in the
 * body of a 200, by its topic: queries are answered all the same. Open to all, so no notice names a source.
 */
export function healthRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async () => {
    const reason = context.notReady();
    if (reason !== undefined) throw new TailraceError('engine_unavailable', reason);
    const notices = await context.readNotices();
    return { status: 'ready', ...Object.fromEntries(notices.map(({ topic, message }) => [topic, message])) };
  });
}
