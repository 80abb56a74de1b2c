import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { networkOf } from '../lib/network.ts';

/** Why a connection was closed: with `address` and `total` it is the new one, with `idle` an older one that makes room for it. */
export type ClosedReason = 'address' | 'total' | 'idle';

export interface ConnectionLimits {
  /** Connections open at once. */
  readonly connectionsMax: number;
  /** Connections open at once from one address, of IPv6 from one /64; 0: no bound. */
  readonly connectionsPerAddressMax: number;
  /** The setting: addresses of proxies, which have no bound per address, since many callers come through them. */
  readonly trustProxy: string;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  readonly onOpen: (open: number) => void;
  readonly onClosed: (reason: ClosedReason) => void;
}

export interface Connections {
  /** After a request with a valid key: the connection is never closed to make room for others. */
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
 * Bounds the connections of a server, so that no client shuts the others out. At the total, the connection that has been idle
 * for longest is closed in favour of the new one, but never one with a valid key. Node's `maxConnections` would refuse the new
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

/** @returns why a new connection from an address is refused; `undefined` if it is accepted, after making room for it */
function createBounds(open: Open, { limits, onClosed }: ConnectionsOptions) {
  const { connectionsMax, connectionsPerAddressMax, trustProxy } = limits;
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

/** Finds the connection of a request's socket. Under TLS that is another socket than the one of the connection. */
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
