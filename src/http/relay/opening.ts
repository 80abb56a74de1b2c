import { timingSafeEqual } from 'node:crypto';

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
