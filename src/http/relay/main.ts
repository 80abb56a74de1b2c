// A listener process: accepts connections, ends TLS, and relays the bytes to the service. It has no key, no state and no
// definitions, so it can end at any moment; only its own connections end with it.
import { flushCompileCache } from 'node:module';
import { connect, createServer, type Server, Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { followTlsFiles, readTlsContext } from '../tls.ts';
import { writeOpening } from './accept.ts';
import {
  CONTROL_FD,
  type ListenOptions,
  type Order,
  onMessage,
  type Report,
  sendMessage,
  type TlsOptions,
} from './control.ts';

// Bytes that are on their way to a client that reads slowly are given up after this time.
const END_MS_MAX = 2_000;
const END_POLL_MS = 10;

const control = new Socket({ fd: CONTROL_FD, readable: true, writable: true });
const send = (report: Report) => sendMessage(control, report);
const exit = () => process.exit();

// The service has ended, cleanly or not.
control.on('close', exit).on('error', exit);

// A terminal sends these to its whole process group; the service decides when a listener process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let server: Server | undefined;
let relay: Relay | undefined;
onMessage<Order>(control, (order) => {
  if (order.op === 'listen') listen(order.options);
  else if (order.op === 'stop') stop();
  else end();
});
flushCompileCache();

function listen(options: ListenOptions): void {
  const { host, port, backlog } = options;
  try {
    relay = createRelay(options);
    server = options.tls === undefined ? servePlain(relay) : serveTls(relay, options.tls);
  } catch (error) {
    fail(error as NodeJS.ErrnoException); // a file of TLS that was replaced since the service has read it
    return;
  }
  const opened = server;
  opened.on('error', fail);
  // Each listener process has its own queue of connections, which the kernel fills evenly.
  opened.listen({ host, port, backlog, reusePort: true }, () => {
    const address = opened.address();
    if (address !== null && typeof address !== 'string') send({ op: 'listening', address });
  });
}

function fail({ code = '', message }: NodeJS.ErrnoException): void {
  send({ op: 'failed', code, message });
}

function servePlain({ open }: Relay): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (client) => open(client)(client));
}

function serveTls({ open }: Relay, { ticketKeys, ...files }: TlsOptions): Server {
  const secured = createTlsServer({
    ...readTlsContext(files),
    ...{ ticketKeys: Buffer.from(ticketKeys, 'base64'), ALPNProtocols: ['http/1.1'] },
    ...{ allowHalfOpen: true, noDelay: true },
  });
  const shaking = new Map<string, Join>();
  const idOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  secured.prependListener('connection', (client: Socket) => {
    const id = idOf(client);
    const join = open(client);
    shaking.set(id, join);
    client.once('close', () => {
      if (shaking.get(id) === join) shaking.delete(id);
    });
  });
  secured.on('secureConnection', (client: TLSSocket) => {
    const id = idOf(client);
    const join = shaking.get(id);
    shaking.delete(id);
    if (join === undefined) client.destroy();
    else join(client);
  });
  const log = (level: 'info' | 'error') => (fields: object | string, text?: string) =>
    send({
      ...{ op: 'log', level },
      ...(typeof fields === 'string' ? { fields: {}, text: fields } : { fields, text: text ?? '' }),
    });
  followTlsFiles(files, secured, { info: log('info'), error: log('error') });
  return secured;
}

function stop(): void {
  relay?.stop();
  server?.close();
  send({ op: 'stopped' });
}

function end(): void {
  setTimeout(exit, END_MS_MAX);
  setInterval(() => {
    if ((relay?.size ?? 0) === 0) exit();
  }, END_POLL_MS);
}

// Time for a client to read the last bytes while it still sends, such as the rest of a body that was rejected.
const LINGER_MS = 1_000;

export interface RelayOptions {
  readonly path: string;
  readonly secret: string;
}

export interface Relay {
  /**
   * Opens the service's side of a client's connection at once, so that the service counts it before its first byte.
   *
   * @returns passes bytes both ways until either side ends; given the connection, or under TLS what it carries
   */
  open(client: Socket): Join;
  /** From now on a connection closes with the last byte that the service has sent. */
  stop(): void;
  /** Open connections. */
  readonly size: number;
}

export type Join = (client: Socket) => void;

/**
 * Relays connections byte by byte, each over its own connection to the service: HTTP, its bounds and its timeouts stay the
 * service's. Half-closed connections, hang-ups and back-pressure reach the other side.
 */
export function createRelay({ path, secret }: RelayOptions): Relay {
  const open = new Set<Socket>();
  let isStopping = false;

  /** Closes a client's connection after the service has closed its side. */
  function finish(client: Socket): void {
    if (client.bytesWritten === 0 || isStopping) {
      client.destroySoon();
      return;
    }
    const linger = setTimeout(() => client.destroy(), LINGER_MS);
    client.once('close', () => clearTimeout(linger));
  }

  return {
    open(connection) {
      const service = connect({ path, allowHalfOpen: true });
      const { remoteAddress: address = '', remotePort: port = 0 } = connection;
      service.write(writeOpening(secret, { address, port }));
      open.add(connection);
      let client = connection;
      service.on('error', () => {}); // it closes next
      service.on('close', () => client.destroySoon()); // after what was received before
      connection.on('error', () => service.destroy());
      connection.on('close', () => {
        open.delete(connection);
        service.destroy();
      });
      return (carried) => {
        client = carried;
        client.on('error', () => service.destroy());
        client.pipe(service);
        service.pipe(client);
        service.once('end', () => finish(client));
      };
    },
    stop() {
      isStopping = true;
    },
    get size() {
      return open.size;
    },
  };
}
