import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { client, v2 } from '@datadog/datadog-api-client';
import { pino } from 'pino';
import createTransport from 'pino-datadog-transport';
import { afterAll, describe, expect, test } from 'vitest';
import winston from 'winston';
import { request } from '../support/http.ts';
import { type Body, post } from '../support/ingest.ts';
import { newProject, startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';

const service = await startProtocolService();
afterAll(service.close);
const { url, clock, rows } = service;

const PATH = '/api/v2/logs';
// A busy machine takes long for a request.
const PATIENT = { timeout: 20_000 };
const send = (body: Body, path = PATH, headers: Record<string, string> = {}) =>
  post(url, path, body, { 'x-api-key': '', 'dd-api-key': PUBLIC_KEY, ...headers });

describe('a log for Datadog', () => {
  test('is stored with its time, text, tags and the rest as metadata', async () => {
    const project = newProject();
    const ddtags = `env:prod,project:${project},a:b:c,alone`;
    const answer = await send([
      {
        ddsource: 'nginx',
        ddtags,
        hostname: 'h1',
        service: 'shop',
        status: 'warn',
        message: 'm',
        timestamp: clock.now,
      },
      { ddtags, message: { a: 1 }, date: new Date(clock.now).toISOString() },
    ]);
    expect([answer.status, answer.text]).toEqual([202, '{}']);
    const columns = 'event_message, metadata, level, service, host, toUnixTimestamp64Milli(timestamp) AS at';
    const tags = `"ddtags":"${ddtags}"`;
    const map = `"tags":{"env":"prod","project":"${project}","a":"b:c","alone":""}`;
    expect(await rows(project, { columns })).toEqual([
      {
        ...{ event_message: 'm', level: 'warn', service: 'shop', host: 'h1', at: clock.now },
        metadata: `{"ddsource":"nginx",${tags},"hostname":"h1","service":"shop","status":"warn",${map}}`,
      },
      {
        ...{ event_message: '{"a":1}', level: null, service: null, host: null, at: clock.now },
        metadata: `{${tags},${map}}`,
      },
    ]);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('may be compressed with %s', async (encoding, compress) => {
    const project = newProject();
    const body = new Uint8Array(compress(JSON.stringify({ message: 'x', project })));
    expect((await send(body, PATH, { 'content-encoding': encoding })).status).toBe(202);
    expect(await rows(project)).toHaveLength(1);
  });

  test('may be text, with what the query string and DD-Message-Timestamp say', async () => {
    const project = newProject();
    const path = `/v1/input?ddtags=project:${project}&service=gateway`;
    const at = String(clock.now - 1_000);
    const answer = await send('one\ntwo', path, { 'content-type': 'text/plain', 'dd-message-timestamp': at });
    expect([answer.status, answer.text]).toEqual([200, '{}']);
    const columns = 'event_message, toUnixTimestamp64Milli(timestamp) AS at';
    expect(await rows(project, { table: 'gateway_logs', columns })).toEqual([
      { event_message: 'one', at: Number(at) },
      { event_message: 'two', at: Number(at) },
    ]);
  });

  test('that is bad spoils no other', async () => {
    const project = newProject();
    const answer = await send([{ message: 'good', project }, 1, { message: 'x', timestamp: 'soon' }]);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      400,
      {
        errors: [
          { status: '400', detail: expect.stringMatching(/^event 2: is not a JSON object; event 3: has/) },
        ],
      },
    ]);
    expect(await rows(project)).toHaveLength(1);
  });

  test.each([
    ['no JSON', '{', {}, 400],
    ['of another type', '{}', { 'content-type': 'text/csv' }, 415],
    ['without a key', '{}', { 'dd-api-key': '' }, 401],
    ['with a wrong key', '{}', { 'dd-api-key': 'x' }, 401],
  ])('%s gets Datadog’s errors', async (_, body, headers, status) => {
    const answer = await send(body, PATH, headers as Record<string, string>);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      status,
      { errors: [{ status: String(status) }] },
    ]);
  });

  test('may have its key in the query string; senders check theirs', async () => {
    expect(
      (await send({ message: 'x' }, `${PATH}?dd-api-key=${PUBLIC_KEY}`, { 'dd-api-key': '' })).status,
    ).toBe(202);
    const valid = await request(url, '/api/v1/validate', {
      headers: { 'x-api-key': '', 'dd-api-key': PUBLIC_KEY },
    });
    expect([valid.status, valid.text]).toEqual([200, '{"valid":true}']);
  });
});

test.each([undefined, 'gzip', 'deflate'] as const)(
  'Datadog’s client delivers every log, compressed with %s',
  async (contentEncoding) => {
    const project = newProject();
    const configuration = client.createConfiguration({
      authMethods: { apiKeyAuth: PUBLIC_KEY },
      baseServer: new client.BaseServerConfiguration(url, {}),
    });
    const api = new v2.LogsApi(configuration);
    for (let part = 0; part < 5; part++) {
      const body = Array.from({ length: 10 }, (_, i) => ({
        message: `m${part * 10 + i}`,
        service: 'gateway',
        ddtags: `project:${project}`,
      }));
      await api.submitLog({ body, ...(contentEncoding !== undefined && { contentEncoding }) });
    }
    const stored = await rows(project, { table: 'gateway_logs' });
    expect(new Set(stored.map((row) => row['event_message'])).size).toBe(50);
  },
);

test('pino-datadog-transport delivers every line', async () => {
  const project = newProject();
  const transport = createTransport({
    // The second of the client's addresses, which names a host as it is.
    ddClientConf: { authMethods: { apiKeyAuth: PUBLIC_KEY }, serverIndex: 1 },
    ddServerConf: { protocol: 'http', name: new URL(url).host } as object,
    ...{ service: 'gateway', ddtags: `project:${project}`, sendIntervalMs: 50 },
  });
  const logger = pino(transport);
  for (let i = 0; i < 50; i++) logger.warn({ status: 500 }, `line ${i}`);
  const read = async () =>
    (await rows(project, { table: 'gateway_logs' })).map((row) => String(row['event_message']));
  await expect.poll(async () => (await read()).length, PATIENT).toBe(50);
  const lines = (await read()).map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(new Set(lines.map(({ msg }) => msg)).size).toBe(50);
  expect(lines[0]).toMatchObject({ level: 'warning', status: 500 });
});

test('winston sends by HTTP, as Datadog documents it for winston', async () => {
  const project = newProject();
  const { hostname: host, port } = new URL(url);
  const path = `${PATH}?dd-api-key=${PUBLIC_KEY}&ddsource=nodejs&service=gateway&ddtags=project:${project}`;
  const transport = new winston.transports.Http({ host, port: Number(port), path });
  const logger = winston.createLogger({ transports: [transport] });
  for (let i = 0; i < 20; i++) logger.error(`line ${i}`, { status: 500 });
  await expect
    .poll(() => rows(project, { table: 'gateway_logs', columns: 'DISTINCT event_message' }), PATIENT)
    .toHaveLength(20);
  logger.close();
});
