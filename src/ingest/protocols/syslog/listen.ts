import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { BlockList, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions, Server as TlsServer } from 'node:tls';
import type { SyslogAddress } from '../../../config/syslog.ts';
import { TailraceError } from '../../../errors.ts';
import { EVENT_BYTES_MAX } from '../../event.ts';
import { createFramer } from './framer.ts';

interface SyslogOptions {
  /** Certificate and key, for `tls`. */
  readonly tls: TlsOptions;
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
  const { onLost, onFault } = options;
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
    const framer = createFramer(EVENT_BYTES_MAX, () => onLost(address, 'too_long', 1));
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

/** Why lines of syslog, or a connection that is not allowed, are lost. */
export const SYSLOG_LOSSES = ['too_long', 'queue_full', 'not_allowed', 'not_stored'] as const;

type SyslogLoss = (typeof SYSLOG_LOSSES)[number];

/** Lines that wait to be stored together. */
interface LineQueue {
  /** Adds lines. @returns whether there is room for more */
  add(lines: readonly Buffer[]): boolean;
  /** Resolves when there is room for more, or the queue is closed. */
  room(): Promise<void>;
  /** Stores what waits, as far as that is possible before the time is over. */
  close(): Promise<void>;
}

interface LineQueueOptions {
  /** Stores frames of RFC 6587. @throws TailraceError if they have to be sent again */
  readonly store: (frames: Buffer) => Promise<void>;
  /** Called with lines that are not stored. */
  readonly onLost: (lines: number, error: unknown) => void;
}

const QUEUE_BYTES_MAX = 4 * 1024 * 1024;
const BATCH_BYTES_MAX = 1024 * 1024;
// Memory of a line beside its bytes.
const LINE_BYTES = 128;
const sizeOf = (line: Buffer) => line.length + LINE_BYTES;
// Lines that come one by one are stored together.
const COLLECT_MS = 50;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
const CLOSE_MS_MAX = 5_000;

/**
 * Collects the lines of all connections of a listener. They are stored in the order of their arrival, one batch after
 * another; one that cannot be stored for now is tried again until it is, or the queue is closed.
 */
function createLineQueue({ store, onLost }: LineQueueOptions): LineQueue {
  const closing = new AbortController();
  let waiting: Buffer[] = [];
  let bytes = 0;
  let draining: Promise<void> | undefined;
  let onRoom: (() => void)[] = [];

  function takeBatch(): Buffer[] {
    let size = 0;
    const end = waiting.findIndex((line) => {
      size += sizeOf(line);
      return size > BATCH_BYTES_MAX;
    });
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  async function drain(): Promise<void> {
    await wait(COLLECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    while (waiting.length > 0) {
      const batch = takeBatch();
      await storeBatch(batch);
      bytes -= batch.reduce((sum, line) => sum + sizeOf(line), 0);
      for (const resume of onRoom.splice(0)) resume();
    }
  }

  async function storeBatch(batch: readonly Buffer[]): Promise<void> {
    const frames = Buffer.concat(batch.flatMap((line) => [Buffer.from(`${line.length} `), line]));
    for (;;) {
      try {
        return await store(Buffer.from(frames)); // its bytes may move to another thread
      } catch (error) {
        const retryMs = retryAfter(error);
        if (retryMs === undefined || closing.signal.aborted) return onLost(batch.length, error);
        await wait(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  return {
    add(lines) {
      for (const line of lines) {
        waiting.push(line);
        bytes += sizeOf(line);
      }
      if (waiting.length > 0) draining ??= drain().finally(() => (draining = undefined));
      return bytes < QUEUE_BYTES_MAX;
    },
    async room() {
      if (bytes >= QUEUE_BYTES_MAX && !closing.signal.aborted)
        await new Promise<void>((resolve) => onRoom.push(resolve));
    },
    async close() {
      const late = wait(CLOSE_MS_MAX, undefined, { ref: false });
      closing.abort();
      for (const resume of onRoom) resume();
      onRoom = [];
      await Promise.race([draining, late]);
      if (waiting.length > 0) onLost(waiting.length, new Error('the service is shutting down'));
      waiting = [];
    },
  };
}

/** Returns after how long to try again, in ms; `undefined` if that cannot help. */
function retryAfter(error: unknown): number | undefined {
  if (!(error instanceof TailraceError)) return undefined;
  const seconds = error.retryAfterSeconds;
  // A quota may be spent for hours, but be raised at any time.
  return seconds === undefined ? undefined : Math.min(Math.max(RETRY_MS, seconds * 1_000), RETRY_MS_MAX);
}
