import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { BlockList, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, Server as TlsServer } from 'node:tls';
import type { SyslogAddress } from '../../../config/syslog.ts';
import { createFramer } from './framer.ts';
import type { SyslogLoss } from './losses.ts';
import { createLineQueue } from './queue.ts';

export interface SyslogOptions {
  /** Certificate and key, for `tls`. */
  readonly tls: TlsOptions;
  readonly lineBytesMax: number;
  /** Stores frames of RFC 6587 as events of a listener. @throws TailraceError if they have to be sent again */
  readonly store: (address: SyslogAddress, frames: Buffer) => Promise<void>;
  /** Called with lines, or connections that are not allowed, that are lost. */
  readonly onLost: (address: SyslogAddress, reason: SyslogLoss, count: number) => void;
  /** Called with the error of a connection or a batch. */
  readonly onFault: (address: SyslogAddress, error: unknown) => void;
}

/** An open port. */
export interface SyslogListener {
  readonly address: SyslogAddress;
  /** The port that was chosen for port 0. */
  readonly port: number;
  /** The server of `tls`, which may get another certificate. */
  readonly server?: TlsServer;
  /** Accepts no more, and stores what has arrived. */
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 1_000;
const IDLE_MS_MAX = 60 * 60_000;

/** Opens a port for lines of syslog. @throws Error if it cannot */
export async function listenSyslog(address: SyslogAddress, options: SyslogOptions): Promise<SyslogListener> {
  return address.transport === 'udp'
    ? await listenDatagrams(address, options)
    : await listenStreams(address, options);
}

type Part = Pick<SyslogAddress, 'allow'>;

function createAllowed({ allow }: Part): (remote: string | undefined) => boolean {
  if (allow.length === 0) return () => true;
  const list = new BlockList();
  for (const network of allow) {
    const [host = '', bits] = network.split('/');
    const family = isIPv6(host) ? 'ipv6' : 'ipv4';
    list.addSubnet(host, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return (remote = '') => list.check(remote, isIPv6(remote) ? 'ipv6' : 'ipv4');
}

function createQueue(address: SyslogAddress, { store, onLost, onFault }: SyslogOptions) {
  return createLineQueue({
    store: (frames) => store(address, frames),
    onLost(lines, error) {
      onLost(address, 'not_stored', lines);
      onFault(address, error);
    },
  });
}

async function listenStreams(address: SyslogAddress, options: SyslogOptions): Promise<SyslogListener> {
  const { onLost, onFault, lineBytesMax } = options;
  const queue = createQueue(address, options);
  const isAllowed = createAllowed(address);
  const sockets = new Set<Socket>();

  function take(socket: Socket): void {
    socket.on('error', (error) => onFault(address, error));
    if (!isAllowed(socket.remoteAddress)) {
      onLost(address, 'not_allowed', 1);
      socket.destroy();
      return;
    }
    sockets.add(socket);
    const framer = createFramer(lineBytesMax, () => onLost(address, 'too_long', 1));
    // A sender that waits for a slow store is stopped by TCP itself.
    socket.on('data', (chunk: Buffer) => {
      if (queue.add(framer.push(chunk))) return;
      socket.pause();
      void queue.room().then(() => socket.resume());
    });
    socket.on('close', () => {
      sockets.delete(socket);
      queue.add(framer.end());
    });
    socket.setTimeout(IDLE_MS_MAX, () => socket.destroy());
  }

  const server: Server =
    address.transport === 'tls'
      ? createTlsServer(options.tls, take).on('tlsClientError', (error) => onFault(address, error))
      : createServer(take);
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(address.port, address.host);
  await once(server, 'listening');
  server.on('error', (error) => onFault(address, error));
  const bound = server.address();
  return {
    address,
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    ...(server instanceof TlsServer && { server }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      const ended = [...sockets].map((socket) => once(socket, 'close'));
      for (const socket of sockets) socket.destroy();
      await Promise.all(ended);
      await queue.close();
      await closed;
    },
  };
}

async function listenDatagrams(address: SyslogAddress, options: SyslogOptions): Promise<SyslogListener> {
  const { onLost, onFault } = options;
  const queue = createQueue(address, options);
  const isAllowed = createAllowed(address);
  const socket: UdpSocket = createSocket(isIPv6(address.host) ? 'udp6' : 'udp4');
  let hasRoom = true;
  socket.on('message', (line, { address: remote }) => {
    if (!isAllowed(remote)) return onLost(address, 'not_allowed', 1);
    if (line.length === 0) return;
    // A datagram has no sender that could wait.
    if (!hasRoom) return onLost(address, 'queue_full', 1);
    hasRoom = queue.add([line]);
    if (!hasRoom) void queue.room().then(() => (hasRoom = true));
  });
  socket.bind(address.port, address.host);
  await once(socket, 'listening');
  socket.on('error', (error) => onFault(address, error));
  return {
    address,
    port: socket.address().port,
    async close() {
      socket.close();
      await queue.close();
    },
  };
}
