import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AlertMessage } from '../../src/alerts/outbox.ts';
import type { Random } from '../../src/lib/random.ts';

/** A message that the receiver has read, whatever it answered. */
export interface ReceivedMessage {
  /** `webhook-id`. */
  readonly id: string;
  /** Of the service that sent it: the path of its receiver. */
  readonly sender: string;
  /** ms since the epoch. */
  readonly atMs: number;
  readonly message: AlertMessage;
  /** Whether the answer was 204. A message without it is sent again. */
  readonly isAccepted: boolean;
}

export interface FlakyReceiver {
  readonly url: string;
  readonly received: readonly ReceivedMessage[];
  close(): void;
}

/** Shares of the messages that are not accepted. */
const FAILED = 0.01;
const CUT = 0.01;

/** Starts a webhook on 127.0.0.1 that sometimes answers 500, and sometimes closes the connection after it has read a message. */
export async function startFlakyReceiver(random: Random): Promise<FlakyReceiver> {
  const received: ReceivedMessage[] = [];

  function answer(response: ServerResponse): boolean {
    if (random.chance(FAILED)) {
      response.writeHead(500).end();
      return false;
    }
    if (random.chance(CUT)) {
      response.destroy();
      return false;
    }
    response.writeHead(204).end();
    return true;
  }

  const server = createServer(async (request, response) => {
    const message = JSON.parse(await text(request)) as AlertMessage;
    const { 'webhook-id': id } = request.headers;
    const [, sender = ''] = (request.url ?? '').split('/');
    received.push({ id: String(id), sender, atMs: Date.now(), message, isAccepted: answer(response) });
  });
  // A killed sender resets its connection.
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
