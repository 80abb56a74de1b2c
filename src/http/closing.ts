import type { IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { receivedBytes } from './relay/accept.ts';

/**
 * Lets `close` end with the last running request. Otherwise it would also wait for connections that need not be open:
 * connections without any request, such as a browser opens in advance, which Node counts as busy, and connections with a running
 * request, which would then idle for the keep-alive time.
 *
 * @returns aborts when `close` begins
 */
export function registerClosing(app: FastifyInstance): AbortSignal {
  const sockets = new Set<Socket>();
  const used = new WeakSet<Socket>();
  const closing = new AbortController();
  const { signal } = closing;
  for (const event of ['connection', 'secureConnection']) {
    app.server.on(event, (socket: Socket) => {
      if (signal.aborted) socket.destroy(); // its handshake ended only now
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  // Under TLS the handshake itself sends bytes.
  if (app.server instanceof HttpsServer)
    app.server.on('request', ({ socket }: IncomingMessage) => used.add(socket));
  const isUnused = (socket: Socket) =>
    socket instanceof TLSSocket ? !used.has(socket) : receivedBytes(socket) === 0;
  app.addHook('preClose', (done) => {
    closing.abort();
    for (const socket of sockets) if (isUnused(socket)) socket.destroy();
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (signal.aborted) reply.header('connection', 'close');
    done();
  });
  return signal;
}
