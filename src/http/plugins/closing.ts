import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Lets `close` end as soon as the last running request has been answered. By itself it would also wait for connections
 * that are kept open without need: those on which nothing ever came, such as a browser opens ahead, which Node counts as
 * busy, and those whose request was under way, which would then idle for the keep-alive time.
 */
export function registerClosing(app: FastifyInstance): void {
  const sockets = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
}
