import { describe, expect, test } from 'vitest';
import { type Body, post } from '../support/ingest.ts';
import { shareProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const service = await shareProtocolService();
const { url, clock, rows } = service;

const PATH = '/api/v2/logs';
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
});
