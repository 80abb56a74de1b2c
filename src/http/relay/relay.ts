import { connect, type Socket } from 'node:net';
import { writeOpening } from './opening.ts';

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
