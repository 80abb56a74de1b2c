import { afterEach, expect, test } from 'vitest';
import { createSender, type SenderOptions } from '../../src/cli/load/send.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';

let service: ReceiverServer | undefined;
afterEach(() => service?.close());

const line = (number: number, text: string) => ({ number, text });

/** The connection breaks before the response. */
const LOST = 0;

type Reply = { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> };

/** A sink to a service that sends these replies, the last one again and again. */
async function open(replies: readonly Reply[], options: Partial<SenderOptions> = {}) {
  const left = [...replies];
  service = await startReceiver((_, response) => {
    const [{ status, body = '{"message":"Logged!"}', headers = {} } = { status: 200 }] = left;
    if (left.length > 1) left.shift();
    if (status === LOST) response.destroy();
    else response.writeHead(status, headers).end(body);
  });
  const waits: number[] = [];
  const sink = createSender({
    url: service.url,
    key: 'k',
    source: 'a b',
    project: '',
    onRejected: () => {},
    onRetry: () => {},
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { sink, waits, received: service.received };
}

test('a service that cannot store events is sent the same batch again, after twice the time, or the time that it asks for', async () => {
  const unavailable = { status: 503, body: '{"error":{"message":"full"}}' };
  const rejected: unknown[] = [];
  const replies = [
    { status: LOST },
    unavailable,
    { ...unavailable, headers: { 'retry-after': '7' } },
    { status: 429, headers: { 'retry-after': '999' }, body: 'no JSON' },
    { status: 200, body: 'cut of' },
    { status: 406, body: '{"message":["event 2: is not valid JSON"]}' },
  ];
  const onRejected = (...line: unknown[]) => void rejected.push(line);
  const { sink, waits, received } = await open(replies, { onRejected });
  await sink.send([line(4, '{}'), line(6, '{')]);
  expect(waits).toEqual([500, 1_000, 7_000, 30_000, 8_000]);
  expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect([sink.counts.stored, rejected]).toEqual([1, [[6, 'is not valid JSON']]]);
});

test('lines that cannot be sent are reported in the order of the file, among those that the service rejects', async () => {
  const rejected: number[] = [];
  const { sink, received } = await open(
    [{ status: 406, body: '{"message":["event 1: is not valid JSON","event 3: is not valid JSON"]}' }],
    { onRejected: (line) => void rejected.push(line) },
  );
  const long = (number: number) => ({ number, text: '', fault: 'is longer than 1000 bytes' });
  await sink.send([line(1, '{'), long(2), line(3, '{}'), line(4, '{'), long(5)]);
  expect([sink.counts.stored, rejected, received.length]).toEqual([1, [1, 2, 4, 5], 1]);
  await sink.send([long(6)]);
  expect([sink.counts.stored, rejected.at(-1), received.length]).toEqual([1, 6, 1]);
});

test('a service that redirects is not followed: the key would go to another host', async () => {
  const location = 'http://elsewhere.example/api/logs';
  const { sink, received } = await open([{ status: 307, headers: { location } }]);
  await expect(sink.send([line(1, '{}')])).rejects.toThrow(
    `307 Temporary Redirect to ${location}; give the address`,
  );
  expect(received).toHaveLength(1);
});
