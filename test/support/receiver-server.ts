import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ReceiverServer {
  readonly url: string;
  readonly received: readonly Received[];
  close(): void;
}

/** An HTTP server of 127.0.0.1 that keeps what it is sent. @param respond default: 204 */
export async function startReceiver(
  respond: RequestListener = (_, response) => response.writeHead(204).end(),
): Promise<ReceiverServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ path: request.url ?? '', headers: request.headers, body });
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
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
