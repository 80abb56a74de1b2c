import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createRemoteSink, type RemoteSinkOptions } from '../../src/ingest/remote-sink.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service that sends these replies, the last one again and again, and records the requests. */
async function startService(...replies: readonly Reply[]) {
  const requests: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    const {
      status,
      body = '{"message":"Logged!"}',
      headers = {},
    } = replies[requests.length] ?? replies.at(-1) ?? { status: 200 };
    requests.push({ url: request.url, headers: request.headers });
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}`, requests };
}

function createSink(url: string, options: Partial<RemoteSinkOptions> = {}) {
  const waits: number[] = [];
  const retries: string[] = [];
  const sink = createRemoteSink({
    url,
    key: 'k',
    source: 'a b',
    project: '',
    onRejected: () => {},
    onWithoutProject: () => {},
    onRetry: (reason) => void retries.push(reason),
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { sink, waits, retries };
}

test.each(['', '/', '/logs/tailrace', '/logs/tailrace/'])(
  'an address that ends with %o is asked below it',
  async (path) => {
    const { url, requests } = await startService();
    const { sink } = createSink(`${url}${path}`);
    await sink.add(1, '{}');
    await sink.flush();
    expect(requests.map((request) => request.url)).toEqual([
      `${path.replace(/\/$/, '')}/api/logs?source=a%20b`,
    ]);
    expect(sink.stored).toBe(1);
  },
);

describe('a service that cannot store events', () => {
  const unavailable = { status: 503, body: '{"error":{"message":"full"}}' };

  test('is sent the same batch again, after twice the time, or the time that it asks for', async () => {
    const { url, requests } = await startService(
      unavailable,
      { ...unavailable, headers: { 'retry-after': '7' } },
      { status: 429, headers: { 'retry-after': '999' }, body: 'no JSON' },
      { status: 200, body: 'cut of' },
      { status: 406, body: '{"message":["event 2: is not valid JSON"]}' },
    );
    const rejected: unknown[] = [];
    const { sink, waits, retries } = createSink(url, { onRejected: (...line) => void rejected.push(line) });
    await sink.add(4, '{}');
    await sink.add(6, '{');
    await sink.flush();
    expect(waits).toEqual([500, 7_000, 30_000, 4_000]);
    expect(retries.slice(0, 3)).toEqual(['503 full', '503 full', '429 Too Many Requests']);
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect([sink.stored, rejected]).toEqual([1, [[6, 'is not valid JSON']]]);
  });

  test('is given up after ten tries, and no batch behind it is sent', async () => {
    const { url, requests } = await startService(unavailable);
    const { sink, waits } = createSink(url);
    await sink.add(1, '{}');
    await expect(sink.flush()).rejects.toThrow('did not accept the events in 10 tries: 503 full');
    expect([requests.length, waits.length, Math.max(...waits)]).toEqual([10, 9, 30_000]);
    await sink.add(2, '{}');
    await expect(sink.flush()).rejects.toThrow('in 10 tries');
    expect(requests).toHaveLength(10);
  });

  test('is not asked again if it refuses the request', async () => {
    const { url, requests } = await startService({ status: 404, body: '{"error":{"message":"none"}}' });
    const { sink } = createSink(url);
    await sink.add(1, '{}');
    await expect(sink.flush()).rejects.toThrow('rejects the events: 404 none');
    expect(requests).toHaveLength(1);
  });
});

test('reports the events without a project that the service counted', async () => {
  const headers = { 'x-events-without-project': '2' };
  const { url } = await startService({ status: 200, headers });
  const counts: number[] = [];
  const { sink } = createSink(url, { onWithoutProject: (events) => void counts.push(events) });
  await sink.add(1, '{}');
  await sink.flush();
  expect(counts).toEqual([2]);
});
