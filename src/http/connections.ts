import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { networkOf } from '../lib/network.ts';
import { receivedBytes } from './relay/accept.ts';

/** The reason why a connection was closed: with `address` and `total` it is the new one, with `idle` an older one that makes room for it. */
export type ClosedReason = 'address' | 'total' | 'idle';

export interface ConnectionsOptions {
  readonly limits: Pick<Config, 'connectionsMax' | 'connectionsPerAddressMax' | 'trustProxy'>;
  readonly onOpen: (open: number) => void;
  readonly onClosed: (reason: ClosedReason) => void;
}

export interface Connections {
  /** To be called after a request with a valid key: its connection is never closed to make room for others. */
  trust(socket: Socket): void;
  /** Counts a request until its response is closed: meanwhile its connection is not idle. */
  track(request: IncomingMessage, response: ServerResponse): void;
}

interface Connection {
  readonly socket: Socket;
  /** The IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string;
  /** Requests in progress: with HTTP/1.1 a client may send the next one before it has the response. */
  requests: number;
  isTrusted: boolean;
}

/**
 * Bounds the connections of a server, so that no client blocks the others. At the total, the connection that has been idle
 * for longest is closed in favour of the new one, but never one with a valid key. Node's `maxConnections` would reject the new
 * one: a client without a key could then hold every connection.
 */
export function boundConnections(server: Server, options: ConnectionsOptions): Connections {
  const open = createOpen(options);
  const findRefusal = createBounds(open, options);
  const find = createFinder(server, open.find);
  // Before Node's own listener, which would create a parser for the connection.
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const refusal = findRefusal(address, network);
    if (refusal === undefined) {
      open.add({ socket, network, requests: 0, isTrusted: false });
      return;
    }
    options.onClosed(refusal);
    socket.destroy();
  });
  return {
    track({ socket }, response) {
      const connection = find(socket);
      if (connection === undefined || connection.isTrusted) return;
      connection.requests++;
      open.setIdle(connection);
      response.once('close', () => {
        connection.requests--;
        open.setIdle(connection);
      });
    },
    trust(socket) {
      const connection = find(socket);
      if (connection === undefined || connection.isTrusted) return;
      connection.isTrusted = true;
      open.setIdle(connection);
    },
  };
}

type Open = ReturnType<typeof createOpen>;

/** The open connections. */
function createOpen({ onOpen }: Pick<ConnectionsOptions, 'onOpen'>) {
  const all = new Map<Socket, Connection>();
  // Without a request in progress or a valid key, longest idle first: a Set keeps insertion order.
  const idle = new Set<Connection>();
  const perNetwork = new Map<string, number>();

  function count(network: string, change: 1 | -1): void {
    const connections = (perNetwork.get(network) ?? 0) + change;
    if (connections === 0) perNetwork.delete(network);
    else perNetwork.set(network, connections);
    onOpen(all.size);
  }

  function remove(connection: Connection): void {
    if (!all.delete(connection.socket)) return;
    idle.delete(connection);
    count(connection.network, -1);
  }

  return {
    find: (socket: Socket) => all.get(socket),
    remove,
    add(connection: Connection): void {
      all.set(connection.socket, connection);
      idle.add(connection);
      count(connection.network, 1);
      connection.socket.once('close', () => remove(connection));
    },
    /** Updates whether a connection is idle. */
    setIdle(connection: Connection): void {
      idle.delete(connection);
      if (connection.requests === 0 && !connection.isTrusted && all.has(connection.socket))
        idle.add(connection);
    },
    /** The connection that has been idle for longest. */
    findIdle: (): Connection | undefined => idle.values().next().value,
    countOf: (network: string) => perNetwork.get(network) ?? 0,
    get count() {
      return all.size;
    },
  };
}

/** @returns why a new connection from an address is rejected; `undefined` if it is accepted, after making room for it */
function createBounds(open: Open, { limits, onClosed }: ConnectionsOptions) {
  const { connectionsMax, connectionsPerAddressMax, trustProxy } = limits;
  // Many callers come through a proxy, so it has no bound per address.
  const isProxy = trustProxy === '' ? () => false : proxyAddress.compile(trustProxy.split(','));
  return (address: string, network: string): ClosedReason | undefined => {
    const isBounded = connectionsPerAddressMax > 0 && !isProxy(address, 0);
    if (isBounded && open.countOf(network) >= connectionsPerAddressMax) return 'address';
    if (open.count < connectionsMax) return undefined;
    const oldest = open.findIdle();
    if (oldest === undefined) return 'total';
    open.remove(oldest); // now: its event `close` comes later
    oldest.socket.destroy();
    onClosed('idle');
    return undefined;
  };
}

/** Finds the connection of a request's socket. Under TLS it differs from the connection's socket. */
function createFinder(server: Server, findOpen: Open['find']) {
  if (!(server instanceof HttpsServer)) return findOpen;
  const secured = new WeakMap<Socket, Connection>();
  const shaking = new Map<string, Connection>();
  const idOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const connection = findOpen(socket);
    if (connection === undefined) return;
    const id = idOf(socket);
    shaking.set(id, connection);
    socket.once('close', () => {
      if (shaking.get(id) === connection) shaking.delete(id);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    const connection = shaking.get(idOf(socket));
    shaking.delete(idOf(socket));
    if (connection !== undefined) secured.set(socket, connection);
  });
  return (socket: Socket) => secured.get(socket);
}

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
