import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProtocolName } from '../../src/definitions/accepts.ts';
import { type Body, post } from '../support/ingest.ts';
import { newProject, startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';

const service = await startProtocolService({
  TAILRACE_BODY_BYTES_MAX: '200000',
  TAILRACE_DECODED_BYTES_MAX: '2000000',
  TAILRACE_DEFAULT_PROJECT: 'default-project',
});
afterAll(service.close);
const { url, clock, rows } = service;
const { keyring } = service.service;

interface Sender {
  readonly path: string;
  /** A body with one event. */
  readonly body: (message: string, members: Readonly<Record<string, unknown>>, time?: unknown) => string;
  readonly type: string;
  /** Status where the event is stored, and where it is rejected. */
  readonly statuses: readonly [stored: number, rejected: number];
  /** The form of a rejection as a whole. */
  readonly refusal: RegExp;
}

const json = 'application/json';
// Lines of Heroku and syslog name no members: test/http/drains.test.ts, syslog.test.ts.
const SENDERS: Readonly<Record<Exclude<ProtocolName, 'heroku' | 'syslog'>, Sender>> = {
  loki: {
    path: '/loki/api/v1/push',
    body: (message, members, time = `${clock.now}000000`) =>
      JSON.stringify({ streams: [{ stream: members, values: [[String(time), message]] }] }),
    type: json,
    statuses: [204, 400],
    refusal: /^[^{]/,
  },
  elasticsearch: {
    path: '/_bulk',
    body: (message, members, time = clock.now) =>
      `{"create":{}}\n${JSON.stringify({ '@timestamp': time, message, ...members })}\n`,
    type: 'application/x-ndjson',
    statuses: [200, 200],
    refusal: /^\{"error":\{"type":/,
  },
  splunk: {
    path: '/services/collector',
    body: (message, members, time = clock.now / 1_000) =>
      JSON.stringify({ time, event: { message, ...members } }),
    type: json,
    statuses: [200, 400],
    refusal: /^\{"text":"[A-Z][a-z ]+","code":\d+/,
  },
  datadog: {
    path: '/api/v2/logs',
    body: (message, members, time = clock.now) => JSON.stringify([{ timestamp: time, message, ...members }]),
    type: json,
    statuses: [202, 400],
    refusal: /^\{"errors":\[\{"status":"4/,
  },
  vercel: {
    path: '/drains/vercel',
    body: (message, members, time = clock.now) => JSON.stringify([{ timestamp: time, message, ...members }]),
    type: json,
    statuses: [200, 400],
    refusal: /^\{"error":"/,
  },
  logpush: {
    path: '/drains/logpush',
    body: (message, members, time = clock.now) =>
      `${JSON.stringify({ EdgeStartTimestamp: time, Message: message, ...members })}\n`,
    type: 'text/plain',
    statuses: [200, 400],
    refusal: /^\{"error":"/,
  },
  firehose: {
    path: '/drains/firehose',
    body: (message, members, time = clock.now) => {
      const data = Buffer.from(JSON.stringify({ timestamp: time, message, ...members })).toString('base64');
      return JSON.stringify({ requestId: 'r', timestamp: clock.now, records: [{ data }] });
    },
    type: json,
    statuses: [200, 200],
    refusal: /^\{"timestamp":\d+,"errorMessage":"/,
  },
};

describe.each(Object.entries(SENDERS))('a sender for %s', (_, { path, body, type, statuses, refusal }) => {
  const [stored, rejected] = statuses;
  const send = (bytes: Body, headers: Record<string, string> = {}) =>
    post(url, path, bytes, { 'content-type': type, 'x-api-key': PUBLIC_KEY, ...headers });

  test('may write a time in any unit, in range', async () => {
    const project = newProject();
    const units = [1e-3, 1, 1e3, 1e6].map((unit) => Math.floor(clock.now * unit));
    for (const time of [...units, new Date(clock.now).toISOString()])
      expect((await send(body('x', { project }, time))).status).toBe(stored);
    const columns = 'DISTINCT toUnixTimestamp(timestamp) AS at';
    expect(await rows(project, { columns })).toEqual([{ at: Math.floor(clock.now / 1_000) }]);
    for (const time of ['soon', clock.now + 7_200_000, '1999-01-01T00:00:00Z', -1, '9'.repeat(400)]) {
      const answer = await send(body('late', { project }, time));
      expect([time, answer.status]).toEqual([time, rejected]);
    }
    const late = await rows(project, { columns: "countIf(event_message = 'late') AS late" });
    expect(late).toEqual([{ late: 0 }]);
  });

  test('of the default project where it names none', async () => {
    const message = `default ${path}`;
    await send(body(message, {}));
    expect(await rows('default-project')).toContainEqual(expect.objectContaining({ event_message: message }));
  });

  test('with a pinned project sends for no other', async () => {
    const [own, other] = [newProject(), newProject()];
    const { key } = await keyring.create({ name: 'pinned', scopes: ['ingest'], pins: { project: own } });
    const headers = { 'x-api-key': key };
    expect((await send(body('own', {}), headers)).status).toBe(stored);
    const answer = await send(body('other', { project: other }), headers);
    expect(answer.status).toBe(rejected);
    expect(answer.text).toContain('but the key sends for');
    const named = await send(body('other', {}), { ...headers, 'x-project': other });
    expect([named.status, named.text]).toMatchObject([403, expect.stringMatching(refusal)]);
    expect([(await rows(own)).length, (await rows(other)).length]).toEqual([1, 0]);
  });

  test('with a key for some sources reaches only these', async () => {
    const project = newProject();
    const { key } = await keyring.create({ name: 'one', scopes: ['ingest'], sources: ['gateway.logs'] });
    const headers = { 'x-api-key': key };
    const answer = await send(body('x', { project }), headers);
    expect([answer.status, answer.text]).toMatchObject([
      rejected,
      expect.stringContaining('belongs to no source that this key may send to'),
    ]);
    expect((await send(body('x', { project }), { ...headers, 'x-source': 'gateway.logs' })).status).toBe(
      stored,
    );
    expect((await send(body('x', { project }), { ...headers, 'x-source': 'logs' })).status).toBe(403);
    expect(await rows(project, { table: 'gateway_logs' })).toHaveLength(1);
  });

  test('is rejected in the form that it reads', async () => {
    const { key: reader } = await keyring.create({ name: 'reader', scopes: ['query'] });
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(3_000_000, ' ')));
    const answers = [
      [403, await send(body('x', {}), { 'x-api-key': reader })],
      [401, await send(body('x', {}), { 'x-api-key': 'wrong' })],
      [401, await send(body('x', {}), { 'x-api-key': '' })],
      [413, await send(body('x'.repeat(250_000), {}))],
      [413, await send(bomb, { 'content-encoding': 'gzip' })],
      [400, await send('x', { 'content-encoding': 'gzip' })],
      [415, await send('x', { 'content-encoding': 'lzma' })],
    ] as const;
    for (const [status, answer] of answers) {
      // Splunk has no 415.
      const expected = status === 415 && path.startsWith('/services') ? 400 : status;
      expect([answer.status, answer.text]).toMatchObject([expected, expect.stringMatching(refusal)]);
    }
  });

  test('loses no event where another is too deep', async () => {
    const project = newProject();
    const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown;
    const answer = await send(body('deep', { project, deep }));
    expect([answer.status, answer.text]).toMatchObject([rejected, expect.stringContaining('levels')]);
    expect(await rows(project)).toEqual([]);
  });

  test('stores events once that come again under an Idempotency-Key', async () => {
    const project = newProject();
    const headers = { 'idempotency-key': project };
    for (let i = 0; i < 3; i++) expect((await send(body('x', { project }), headers)).status).toBe(stored);
    expect(await rows(project)).toHaveLength(1);
  });
});
