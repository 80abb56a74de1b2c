import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createRemoteSink } from '../../src/ingest/remote-sink.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A service that notes which addresses it is asked for, and takes everything. */
async function startNoting(): Promise<{ url: string; asked: (string | undefined)[] }> {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader('x-events-without-project', 2);
    request.resume().on('end', () => response.end('{"message":"Logged!"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}`, asked };
}

test.each(['', '/', '/logs/tailrace', '/logs/tailrace/'])(
  'an address that ends with %o is asked below it',
  async (path) => {
    const { url, asked } = await startNoting();
    let withoutProject = 0;
    const sink = createRemoteSink({
      url: `${url}${path}`,
      key: 'k',
      source: 'a b',
      project: '',
      onRejected: () => {},
      onWithoutProject: (events) => {
        withoutProject += events;
      },
      onRetry: () => {},
      wait: async () => {},
    });
    await sink.add(1, '{}');
    await sink.flush();
    expect(asked).toEqual([`${path.replace(/\/$/, '')}/api/logs?source=a%20b`]);
    expect([sink.stored, withoutProject]).toEqual([1, 2]);
  },
);
