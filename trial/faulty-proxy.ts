import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the connections through a proxy, those that are open included. */
export type Fault =
  | { readonly kind: 'none' }
  /** Closed as soon as they are made. */
  | { readonly kind: 'refuse' }
  /** Nothing gets through either way. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Reset when so many bytes of an answer have passed; `times` answers, then none. */
  | { readonly kind: 'cut'; readonly afterBytes: number; times: number };

export interface FaultyProxy {
  readonly url: string;
  fault: Fault;
  /** Breaks every connection that is open now. */
  reset(): void;
  close(): Promise<void>;
}

/** TCP between a client and a server, with faults that a test turns on and off. */
export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  const proxy: { fault: Fault } = { fault: { kind: 'none' } };

  function track(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  }

  function passAnswer(chunk: Buffer, client: Socket): void {
    const { fault } = proxy;
    if (fault.kind === 'silent') return;
    if (fault.kind === 'delay') {
      setTimeout(() => client.write(chunk), fault.ms);
    } else if (fault.kind === 'cut' && fault.times > 0) {
      fault.times--;
      client.write(chunk.subarray(0, fault.afterBytes), () => client.resetAndDestroy());
    } else {
      client.write(chunk);
    }
  }

  const server = createServer((client) => {
    track(client);
    if (proxy.fault.kind === 'refuse') return void client.resetAndDestroy();
    const target = track(connect(targetPort, '127.0.0.1'));
    client.on('data', (chunk) => proxy.fault.kind !== 'silent' && target.write(chunk));
    target.on('data', (chunk) => passAnswer(chunk, client));
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset,
    async close() {
      reset();
      await new Promise((resolve) => void server.close(resolve));
    },
  });
}
