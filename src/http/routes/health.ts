import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { HttpContext } from '../context.ts';

/**
 * `/health`: the service works; 503 when its engine cannot be started again. `/ready`: it may serve; 503 while it starts or
 * stops, and while the engine is restarted. What an operator has to see to is in the body of a 200, by its topic: queries are
 * answered all the same. Open to all, so no notice names a source.
 */
export function healthRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/health', async () => {
    if (context.engine.gauges().state === 'lost')
      throw new TailraceError('engine_unavailable', 'the engine cannot be started; see the log');
    return { status: 'ok' };
  });
  app.get('/ready', async () => {
    const reason = context.notReady();
    if (reason !== undefined) throw new TailraceError('engine_unavailable', reason);
    const notices = await context.readNotices();
    return { status: 'ready', ...Object.fromEntries(notices.map(({ topic, message }) => [topic, message])) };
  });
}
