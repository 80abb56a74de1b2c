import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { type Body, post } from '../support/ingest.ts';
import { startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const SECRET = 'drain-secret';
const service = await startProtocolService({
  TAILRACE_VERCEL_SECRET: SECRET,
  TAILRACE_BODY_BYTES_MAX: '500000',
});
afterAll(service.close);
const { url, clock, rows } = service;
const NOW = new Date(clock.now).toISOString();
const AT = 'toUnixTimestamp64Milli(timestamp) AS at';

const send = async (path: string, body: Body, headers: Record<string, string>) => {
  const {
    status,
    text,
    headers: answered,
  } = await post(url, `/drains/${path}`, body, {
    'x-api-key': PUBLIC_KEY,
    ...headers,
  });
  return { status, text, headers: answered };
};

describe('a drain of Vercel', () => {
  const sign = (text: string, secret = SECRET) => createHmac('sha1', secret).update(text).digest('hex');
  const line = (project: string, id: string) =>
    JSON.stringify({
      id,
      message: 'GET /',
      timestamp: clock.now,
      source: 'lambda',
      project,
      proxy: { n: 1 },
    });

  test('sends lists and lines that it has signed', async () => {
    const project = newProject();
    const [list, lines] = [`[${line(project, 'a')}]`, `${line(project, 'b')}\n\n${line(project, 'c')}\n`];
    const answers = [
      await send('vercel?verify=owner-of-this', list, { 'x-vercel-signature': sign(list) }),
      await send('vercel?verify=owner-of-this', lines, {
        'content-type': 'application/x-ndjson',
        'x-vercel-signature': sign(lines),
      }),
    ];
    for (const { status, headers } of answers)
      expect([status, headers.get('x-vercel-verify')]).toEqual([200, 'owner-of-this']);
    const event = {
      event_message: 'GET /',
      metadata: `{"source":"lambda","project":"${project}","proxy":{"n":1}}`,
    };
    expect(await rows(project, { columns: `id, event_message, metadata, ${AT}` })).toEqual(
      ['a', 'b', 'c'].map((id) => ({ id, ...event, at: clock.now })),
    );
  });

  test('is rejected without its signature, and with that of another body or secret', async () => {
    const project = newProject();
    const body = `[${line(project, 'a')}]`;
    for (const signature of ['', 'zz', sign(`${body} `), sign(body, 'other'), `${sign(body)}00`]) {
      const { status, text } = await send('vercel', body, { 'x-vercel-signature': signature });
      expect([status, text]).toMatchObject([403, expect.stringContaining('x-vercel-signature')]);
    }
    expect(await rows(project)).toEqual([]);
  });
});

describe('Logpush', () => {
  test('sends gzip of lines, and before them a file to see whether it may', async () => {
    const project = newProject();
    const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain', 'x-project': project };
    const pack = (text: string) => new Uint8Array(gzipSync(text));
    expect((await send('logpush', pack('{"content":"tests"}'), headers)).status).toBe(200);
    const members = { ClientRequestMethod: 'GET', ClientRequestHost: 'a.example', ClientRequestURI: '/x' };
    const lines = [
      { ...members, EdgeResponseStatus: 503, EdgeStartTimestamp: clock.now * 1e6 },
      { EventTimestampMs: clock.now - 5 },
      { Datetime: NOW, Message: 'm' },
    ].map((one) => JSON.stringify(one));
    expect((await send('logpush', pack(lines.join('\n')), headers)).status).toBe(200);
    expect(await rows(project, { columns: `event_message, metadata, ${AT}` })).toEqual([
      { event_message: '', metadata: lines[1], at: clock.now - 5 },
      { event_message: 'GET | 503 | a.example | /x', metadata: lines[0], at: clock.now },
      { event_message: 'm', metadata: lines[2], at: clock.now },
    ]);
    const half = await send('logpush', pack(`${lines[1]}\nnot JSON\n`), headers);
    expect([half.status, half.text]).toEqual([400, '{"error":"event 2: is not a JSON object"}']);
  });
});

describe('Firehose', () => {
  const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
  const deliver = (requestId: string, records: readonly unknown[], attributes = '') =>
    send('firehose', JSON.stringify({ requestId, timestamp: clock.now, records }), {
      ...{ 'x-api-key': '', 'x-amz-firehose-access-key': PUBLIC_KEY },
      'x-amz-firehose-request-id': requestId,
      'x-amz-firehose-common-attributes': attributes,
    });

  test('sends objects, lines and the events of CloudWatch', async () => {
    const project = newProject();
    const cloudWatch = (messageType: string) =>
      JSON.stringify({
        ...{ messageType, owner: '1', logGroup: '/aws/lambda/f', logStream: 's', subscriptionFilters: ['x'] },
        logEvents: [{ id: 'e1', timestamp: clock.now - 7, message: 'START "1"' }],
      });
    const { status, text } = await deliver(
      'r1',
      [
        { data: base64(`{"message":"object","timestamp":"${NOW}","n":1.0}`) },
        { data: base64('\ufeffone\r\n\ntwo') },
        { data: base64(gzipSync(cloudWatch('DATA_MESSAGE'))) },
        { data: base64(gzipSync(cloudWatch('CONTROL_MESSAGE'))) },
      ],
      JSON.stringify({ commonAttributes: { project, stage: 'prod' } }),
    );
    expect([status, JSON.parse(text)]).toEqual([200, { requestId: 'r1', timestamp: expect.any(Number) }]);
    const own = `{"project":"${project}","stage":"prod"`;
    const origin = '"owner":"1","logGroup":"/aws/lambda/f","logStream":"s"';
    expect(await rows(project, { columns: `event_message, metadata, ${AT}` })).toEqual([
      { event_message: 'START "1"', metadata: `${own},${origin}}`, at: clock.now - 7 },
      { event_message: 'object', metadata: `${own},"n":1.0}`, at: clock.now },
      { event_message: 'one', metadata: `${own}}`, at: clock.now },
      { event_message: 'two', metadata: `${own}}`, at: clock.now },
    ]);
    const padded = await deliver('r2', [{ data: base64(Buffer.concat([gzipSync('x'), Buffer.alloc(9)])) }]);
    expect(padded.text).toContain('event 1: has no \\"data\\" in base64, or gzip that is not whole');
  });
});

describe('a drain of Heroku', () => {
  const type = { 'content-type': 'application/logplex-1' };
  const frame = (line: string) => `${Buffer.byteLength(line)} ${line}`;

  test('sends frames with its key in the address', async () => {
    const project = newProject();
    const authorization = `Basic ${Buffer.from(`drain:${PUBLIC_KEY}`).toString('base64')}`;
    const body = [
      `<40>1 ${NOW} host app web.3 - State changed from starting to up\n`,
      `<43>1 ${NOW} host heroku router - zwei "ü"\n`,
      'not syslog',
    ];
    const { status } = await send('heroku', body.map(frame).join(''), {
      ...{ ...type, 'x-api-key': '', authorization, 'x-project': project, 'logplex-drain-token': 'd.1' },
    });
    expect(status).toBe(204);
    const metadata = (level: string, app: string, process: string) =>
      `{"level":"${level}","app":"${app}","process":"${process}","hostname":"host","drain":"d.1"}`;
    expect(await rows(project)).toEqual([
      { event_message: 'State changed from starting to up', metadata: metadata('emerg', 'app', 'web.3') },
      { event_message: 'zwei "ü"', metadata: metadata('err', 'heroku', 'router') },
    ]);
  });
});
