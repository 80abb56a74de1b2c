import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import type { AlertMessage } from '../../../src/alerts/message.ts';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import { redact } from '../../../src/alerts/receivers/receiver.ts';
import { alertMessage } from '../../support/alert.ts';
import { type ReceiverServer, startReceiver } from '../../support/receiver-server.ts';

const secretOf = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;
const signal = new AbortController().signal;
const sentAtMs = Date.now();
const routing_key = 'a1'.repeat(16);

async function start(respond?: Parameters<typeof startReceiver>[0]): Promise<ReceiverServer> {
  const server = await startReceiver(respond);
  onTestFinished(() => server.close());
  return server;
}

/** Sends a message to Slack's kind of receiver. */
const sendSlack = ({ url }: ReceiverServer) =>
  open('slack', { url }).send({ id: 'm', message: alertMessage(), sentAtMs }, signal);

function open(kind: string, fields: object) {
  const opened = RECEIVER_KINDS[kind]?.open(fields, { isPrivate: true, lookup: undefined });
  if (opened === undefined) throw new Error(kind);
  return opened;
}

/** Sends a message and returns what arrived. */
async function send(kind: string, fields: object, message: AlertMessage = alertMessage()) {
  const server = await start();
  await open(kind, { url: `${server.url}/in`, ...fields }).send({ id: 'msg_1', message, sentAtMs }, signal);
  return server.received.map(({ body, ...rest }) => ({ ...rest, text: body, body: JSON.parse(body) }));
}

test('signs a webhook so that the library of Standard Webhooks verifies it, by each of its secrets', async () => {
  const secret = [secretOf('a'), secretOf('b')];
  const [received] = await send('webhook', { secret });
  const headers = received?.headers as Record<string, string>; // none of them is sent twice
  const verify = (one: string) => new Webhook(one).verify(received?.text ?? '', headers);
  for (const one of secret) expect(verify(one)).toEqual(received?.body);
  expect(() => verify(secretOf('c'))).toThrow('No matching signature');
  expect(headers).toMatchObject({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(sentAtMs / 1_000)),
    'content-type': 'application/json; charset=utf-8',
  });
  expect(received?.body).toEqual(alertMessage());
  const [marked] = await send('webhook', { secret }, alertMessage({ test: true }));
  expect(marked?.body).toMatchObject({ test: true });
});

test('no text of a row pings a channel, makes a link in Slack, or exceeds its bounds', async () => {
  const server = await start();
  const slack = open('slack', { url: server.url });
  const signs = ['<!channel>', '<@U1>', '@here', '<https://a.b|c>', '&lt;', '*b*', '`', '#general'];
  const part = fc.constantFrom(...signs, '\n', 'é', '😀');
  const text = fc.array(part, { maxLength: 400 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, text, text, async (line, label, value) => {
      const instances = [{ labels: { path: label }, values: { value } }];
      const link = `https://a.example.com/?q=${encodeURIComponent('>|<')}|<`;
      const message = alertMessage({ text: line, instances, link });
      await slack.send({ id: 'm', message, sentAtMs }, signal);
      const { text: fallback, blocks } = JSON.parse(server.received.at(-1)?.body ?? '');
      expect(fallback).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)|[@#]\w|(?<!\u2060)[*`_~]/);
      for (const { type, text: shown } of blocks) {
        expect(shown.text.length).toBeLessThanOrEqual(type === 'header' ? 150 : 3_000);
        expect(shown.text.isWellFormed()).toBe(true);
        if (shown.type === 'plain_text') expect(shown.text).not.toMatch(/[@#]\w/);
        else expect(shown.text).toMatch(/^<https:[^<>|]*\|Open in Tailrace> · <https:[^<>|]*\|Runbook>$/);
      }
    }),
  );
});

test('sends PagerDuty an event for each instance, and resolves it by the same key', async () => {
  const sendAbout = (fields: Partial<AlertMessage>) =>
    send('pagerduty', { routing_key }, alertMessage(fields));
  const fired = await sendAbout({});
  expect(fired.map(({ body }) => body)).toMatchObject([
    {
      ...{ routing_key, event_action: 'trigger' },
      payload: {
        summary: '[firing] checkout.errors: /orders: /orders failed 12 times',
        ...{ source: 'tailrace', severity: 'critical', timestamp: '2026-11-20T12:00:00.000Z' },
        custom_details: { labels: { path: '/orders' }, values: { failures: 12 } },
      },
    },
    { payload: { custom_details: { labels: { path: '/carts' }, values: { failures: null } } } },
  ]);
  const keys = (all: typeof fired) => all.map(({ body }) => body.dedup_key as string);
  const resolved = await sendAbout({ status: 'resolved' });
  expect(resolved.map(({ body }) => body.event_action)).toEqual(['resolve', 'resolve']);
  expect(keys(resolved)).toEqual(keys(fired));
  expect(new Set(keys(fired)).size).toBe(2);
  const labelled = async (labels: Record<string, string>) =>
    keys(await sendAbout({ instances: [{ labels, values: {} }] }));
  expect(await labelled({ b: '1', a: '2' })).toEqual(await labelled({ a: '2', b: '1' }));
  const whole = await sendAbout({ status: 'no_data', instances: [] });
  expect(whole.map(({ body }) => body.payload.class)).toEqual(['no_data']);
  expect(keys(await sendAbout({ test: true }))).not.toContain(keys(fired)[0]);
});

test('sends Alertmanager an alert for each instance, which ends unless it is sent again', async () => {
  const labels = { 'a.path': '/orders', empty: '', alertname: 'x' };
  const instances = [{ labels, values: { 'p95-ms': 12.5 } }];
  const [received] = await send('alertmanager', {}, alertMessage({ instances }));
  expect(received?.path).toBe('/in/api/v2/alerts');
  const sent = {
    ...{ a_path: '/orders', exported_alertname: 'x' },
    ...{ alertname: 'checkout.errors', severity: 'critical' },
  };
  expect(received?.body).toEqual([
    {
      labels: sent,
      annotations: {
        ...{ value_p95_ms: '12.5', summary: '/orders failed 12 times', status: 'firing' },
        ...{ description: 'Checkout fails for customers.', runbook_url: 'https://wiki.example.com/checkout' },
      },
      startsAt: '2026-11-20T11:58:00.000Z',
      endsAt: new Date(sentAtMs + 240_000).toISOString(),
      generatorURL: alertMessage().link,
    },
  ]);
  const [resolved] = await send('alertmanager', {}, alertMessage({ instances, status: 'resolved' }));
  expect(resolved?.body).toMatchObject([{ labels: sent, endsAt: '2026-11-20T12:00:00.000Z' }]);
});

test('says why a receiver did not accept a message, and whether that was this message', async () => {
  const fail = async (status: number, headers: Record<string, string> = {}) => {
    const server = await start((_, response) => response.writeHead(status, headers).end('no such\nteam'));
    const error: unknown = await sendSlack(server).catch((one) => one);
    expect(server.received).toHaveLength(1);
    return error as Error & { readonly retryAfterMs: number | undefined };
  };
  expect(await fail(404)).toMatchObject({ message: 'returned 404: no such\nteam', isRejected: true });
  expect(await fail(500)).toMatchObject({ isRejected: false, retryAfterMs: undefined });
  expect(await fail(429, { 'retry-after': '17' })).toMatchObject({ isRejected: false, retryAfterMs: 17_000 });
  const at = new Date(Date.now() + 3_600_000).toUTCString();
  expect((await fail(503, { 'retry-after': at })).retryAfterMs).toBeGreaterThan(1_000_000);
  expect(await fail(302, { location: 'http://127.0.0.1:9' })).toMatchObject({ isRejected: true });
});

test('a receiver that closes the connection has not rejected the message', async () => {
  const server = await start((request) => request.socket.destroy());
  await expect(sendSlack(server)).rejects.toMatchObject({ isRejected: false, retryAfterMs: undefined });
  expect(server.received).toHaveLength(1);
});

test('does not read a response without an end', async () => {
  const server = await start((_, response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.writeHead(500).on('drain', write);
    write();
  });
  await expect(sendSlack(server)).rejects.toThrow(/^returned 500: x{1,1024}$/);
});

test('hides every part of a URL that may be a key, also if a response repeats only that', () => {
  const url = 'https://user%40corp:p%25w4@hooks.example.com/services/T0/a1b2c3d4e5f6g7h8?token=12345678&a=b';
  const { secrets } = open('slack', { url });
  const echoes = ['user@corp', 'p%w4', 'p%25w4', 'no such hook: a1b2c3d4e5f6g7h8', 'token 12345678'];
  for (const echo of [...echoes, new URL(url).pathname])
    expect(redact(echo, secrets)).toMatch(/^(?:no such hook: |token )?\*\*\*$/);
  expect(redact('returned 503: services are down', secrets)).toBe('returned 503: services are down');
});
