import { timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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

/** The client of a relayed connection. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

/** What a listener process sends first on each connection to the service: one line. */
export interface Opening {
  readonly peer: Peer;
  readonly bytes: number;
}

// A secret of 64 characters, an IPv6 address with its zone, a port.
const BYTES_MAX = 200;

export function writeOpening(secret: string, { address, port }: Peer): string {
  return `${secret} ${address} ${port}\n`;
}

/**
 * Reads the opening at the start of the first bytes of a connection. A listener process writes it at once, so it is whole.
 *
 * @returns `undefined` if the bytes begin with anything else: they do not come from a listener process
 */
export function readOpening(first: Buffer, secret: string): Opening | undefined {
  const end = first.indexOf('\n');
  if (end === -1 || end > BYTES_MAX) return undefined;
  const [given = '', address = '', port = '', ...rest] = first.toString('latin1', 0, end).split(' ');
  if (!isSame(given, secret) || address === '' || !/^\d{1,5}$/.test(port) || rest.length > 0)
    return undefined;
  return { peer: { address, port: Number(port) }, bytes: end + 1 };
}

function isSame(given: string, secret: string): boolean {
  return given.length === secret.length && timingSafeEqual(Buffer.from(given), Buffer.from(secret));
}
