import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { HttpContext } from '../context.ts';

/** `/health`: the process answers. `/ready`: it may serve; 503 while it starts or stops. Open to all: they tell nothing else. */
export function healthRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async () => {
    const reason = context.notReady();
    if (reason !== undefined) throw new TailraceError('engine_unavailable', reason);
    return { status: 'ready' };
  });
}
