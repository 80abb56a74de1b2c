import type { AddressInfo, Socket } from 'node:net';

/** What a listener process needs to accept connections. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Connections that wait to be accepted. */
  readonly backlog: number;
  /** Address of the socket of the service. */
  readonly path: string;
  /** See `readOpening`. */
  readonly secret: string;
  readonly tls: TlsOptions | undefined;
}

export interface TlsOptions {
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  /** 48 bytes as base64, the same for all listener processes: a client resumes its session with any of them. */
  readonly ticketKeys: string;
}

/** From the service to a listener process. */
export type Order =
  | { readonly op: 'listen'; readonly options: ListenOptions }
  /** Accept no more connections. */
  | { readonly op: 'stop' }
  /** End, after the last bytes of open connections have been sent. */
  | { readonly op: 'end' };

/** From a listener process to the service. */
export type Report =
  | { readonly op: 'listening'; readonly address: AddressInfo }
  | { readonly op: 'failed'; readonly code: string; readonly message: string }
  | { readonly op: 'stopped' }
  | { readonly op: 'log'; readonly level: 'info' | 'error'; readonly fields: object; readonly text: string };

/** Descriptor of the listener process on which both talk: a line of JSON each. */
export const CONTROL_FD = 3;

export function sendMessage(socket: Socket, message: Order | Report): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls back with each message. Both ends are ours and of one version, so messages are trusted. */
export function onMessage<T extends Order | Report>(socket: Socket, listener: (message: T) => void): void {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) listener(JSON.parse(line) as T);
  });
}
