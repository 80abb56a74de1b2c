import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readOpening } from './opening.ts';

type OnConnection = (socket: Socket) => void;

// A listener process sends the opening together with the connection.
const OPENING_MS_MAX = 5_000;

const openings = new WeakMap<Socket, number>();

/** Bytes that a client has sent on a connection, without the opening of a relayed one. */
export function receivedBytes(socket: Socket): number {
  return socket.bytesRead - (openings.get(socket) ?? 0);
}

/**
 * Lets a server serve only connections that listener processes relay. Each has the address of its client, so that bounds by
 * address, trusted proxies and logs see what they see without listener processes.
 *
 * @param secret proves that a connection comes from a listener process of this service
 */
export function acceptRelayed(server: Server, secret: string): void {
  const listeners = server.listeners('connection') as OnConnection[]; // Node emits only sockets under this name
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const refuse = () => socket.destroy();
    const late = setTimeout(refuse, OPENING_MS_MAX);
    socket.once('error', refuse).once('close', () => clearTimeout(late));
    socket.once('data', (first: Buffer) => {
      clearTimeout(late);
      const opening = readOpening(first, secret);
      if (opening === undefined) {
        refuse();
        return;
      }
      const { peer, bytes } = opening;
      openings.set(socket, bytes);
      Object.defineProperties(socket, {
        remoteAddress: { value: peer.address },
        remotePort: { value: peer.port },
      });
      socket.off('error', refuse);
      for (const listener of listeners) listener.call(server, socket);
      if (first.length > bytes && !socket.destroyed) socket.unshift(first.subarray(bytes));
    });
  });
}
