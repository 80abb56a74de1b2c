import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { parseMetrics } from '../support/metrics.ts';
import { startProtocolService } from '../support/protocols.ts';
import { PRIVATE_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const [key, cert] = ['key', 'cert'].map((kind) => join('trial/tls', `one.${kind}.pem`)) as [string, string];
const service = await startProtocolService({
  TAILRACE_SYSLOG: `tcp://127.0.0.1:0 udp://127.0.0.1:0 tcp://127.0.0.1:0?project=pinned tcp://127.0.0.1:0?allow=10.0.0.0/8 tls://127.0.0.1:0?ca=${cert}`,
  TAILRACE_TLS_CERT_FILE: cert,
  TAILRACE_TLS_KEY_FILE: key,
});
afterAll(service.close);
const [tcp = 0, udp = 0, pinned = 0, limited = 0, tls = 0] = service.service.syslog.map(({ port }) => port);
const { rows, clock } = service;

const data = (project: string) => `[tailrace@1 project="${project}"]`;
const line = (project: string, message: string) =>
  `<14>1 ${new Date(clock.now).toISOString()} h app - - ${data(project)} ${message}`;
const messages = async (project: string) =>
  (await rows(project, { columns: 'event_message' })).map((row) => row['event_message']);
const stored = (project: string) => expect.poll(() => messages(project));

async function sendTo(port: number, ...chunks: readonly (string | Buffer)[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  for (const chunk of chunks) socket.write(chunk);
  socket.end();
  await once(socket, 'close');
}

describe('lines over TCP', () => {
  test('are stored in their order, however they are framed, with all that they say', async () => {
    const project = newProject();
    const counted = line(project, 'two ü\nlines');
    await sendTo(
      tcp,
      `${line(project, 'one')}\r\n`,
      `${Buffer.byteLength(counted)} ${counted}`,
      line(project, 'end'),
    );
    await stored(project).toEqual(['end', 'one', 'two ü\nlines']);
    const columns = 'level, service, host, metadata, toUnixTimestamp64Milli(timestamp) AS at';
    expect((await rows(project, { columns }))[0]).toEqual({
      ...{ level: 'info', service: 'app', host: 'h', at: clock.now },
      metadata: `{"level":"info","facility":"user","host":"h","app":"app","data":{"tailrace@1":{"project":"${project}"}}}`,
    });
  });

  test('belong to the project of their port, for which no line can name another', async () => {
    const other = newProject();
    await sendTo(pinned, '<13>h a: plain\n', `${line(other, 'not here')}\n`);
    await stored('pinned').toEqual(['h a: plain']);
    expect(await messages(other)).toEqual([]);
  });

  test('are not read from networks that may not send', async () => {
    const project = newProject();
    await sendTo(limited, `${line(project, 'x')}\n`);
    await expect.poll(async () => (await lost()).get('not_allowed')).toBeGreaterThan(0);
    expect(await messages(project)).toEqual([]);
  });
});

async function lost(): Promise<Map<string | undefined, number>> {
  const { payload: text } = await service.service.app.inject({
    url: '/metrics',
    headers: { 'x-api-key': PRIVATE_KEY },
  });
  const own = parseMetrics(text).filter(({ name }) => name === 'tailrace_syslog_lost_total');
  return new Map(own.map(({ labels, value }) => [labels['reason'], value]));
}

test('a datagram is a line', async () => {
  const project = newProject();
  const socket = createSocket('udp4');
  for (const text of ['a', 'b\nc', ''])
    await new Promise((resolve) =>
      socket.send(text === '' ? '' : line(project, text), udp, '127.0.0.1', resolve),
    );
  socket.close();
  await stored(project).toEqual(['a', 'b\nc']);
});

test('TLS takes lines only from senders with a certificate of the authority', async () => {
  const project = newProject();
  const send = async (own: object): Promise<void> => {
    const socket: TLSSocket = connectTls({ port: tls, host: '127.0.0.1', rejectUnauthorized: false, ...own });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(`${line(project, 'over TLS')}\n`);
    await closed;
  };
  await send({});
  await send({ key: readFileSync(key), cert: readFileSync(cert) });
  await stored(project).toEqual(['over TLS']);
});
