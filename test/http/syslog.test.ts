import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import syslogClient from 'syslog-client';
import { afterAll, describe, expect, test } from 'vitest';
import winston from 'winston';
import 'winston-syslog';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { parseMetrics } from '../support/metrics.ts';
import { newProject, startProtocolService } from '../support/protocols.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const LINE_BYTES_MAX = 20_000;
const [key, cert] = ['key', 'cert'].map((kind) => join('trial/tls', `one.${kind}.pem`)) as [string, string];
const service = await startProtocolService({
  TAILRACE_SYSLOG: `tcp://127.0.0.1:0 udp://127.0.0.1:0 tcp://127.0.0.1:0?project=pinned tcp://127.0.0.1:0?allow=10.0.0.0/8 tls://127.0.0.1:0?ca=${cert}`,
  TAILRACE_TLS_CERT_FILE: cert,
  TAILRACE_TLS_KEY_FILE: key,
  TAILRACE_EVENT_BYTES_MAX: String(LINE_BYTES_MAX),
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

  test('that are too long are lost by themselves, and bytes that are not UTF-8 become U+FFFD', async () => {
    const project = newProject();
    const latin = Buffer.concat([Buffer.from(`${line(project, 'caf')}`), Buffer.from([0xe9, 0x0a])]);
    await sendTo(tcp, `${line(project, 'x'.repeat(LINE_BYTES_MAX))}\n`, latin, `${line(project, 'b')}\n`);
    await stored(project).toEqual(['b', 'caf\ufffd']);
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
    expect(await messages(project)).toEqual([]);
    await expect.poll(async () => (await lost()).get('not_allowed')).toBeGreaterThan(0);
  });

  test('of a megabyte, of random bytes and without an end lose no other line', async () => {
    const project = newProject();
    const bytes = Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 256);
    const noise = Buffer.from(bytes.filter((byte) => byte !== 0x0a));
    await sendTo(tcp, `${line(project, 'y'.repeat(1_000_000))}\n`, noise, '\n', line(project, 'last'));
    await stored(project).toEqual(['last']);
  });

  test('of one sender with 1,000 connections leave room for others as soon as it closes them', async () => {
    const project = newProject();
    const held: Socket[] = [];
    while (held.length < 1_000) {
      const socket = connect(pinned, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      held.push(socket);
    }
    const refused = connect(pinned, '127.0.0.1').on('error', () => {});
    await once(refused, 'close'); // beyond the bound: closed at once
    await sendTo(tcp, `${line(project, 'by another port')}\n`);
    await stored(project).toEqual(['by another port']);
    for (const socket of held) socket.destroy();
    const own = `after the crowd of ${project}`;
    const isStored = async () => {
      await sendTo(pinned, `${line('pinned', own)}\n`);
      return await messages('pinned');
    };
    await expect.poll(isStored, { timeout: 20_000 }).toContain(own);
  });

  test('come whole from many connections at once, in more bytes than may wait', async () => {
    const project = newProject();
    const text = 'y'.repeat(2_000);
    const own = (i: number) =>
      Array.from({ length: 150 }, (_, n) => `${line(project, `${i}-${n} ${text}`)}\n`);
    await Promise.all(Array.from({ length: 20 }, (_, i) => sendTo(tcp, own(i).join(''))));
    await expect
      .poll(() =>
        rows(project, { columns: 'toInt64(uniqExact(event_message)) AS n, toInt64(count()) AS rows' }),
      )
      .toEqual([{ n: 3_000, rows: 3_000 }]);
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

describe('senders', () => {
  test('syslog-client sends by TCP and UDP, in both forms', async () => {
    for (const [transport, port] of [
      [syslogClient.Transport.Tcp, tcp],
      [syslogClient.Transport.Udp, udp],
    ] as const)
      for (const rfc3164 of [true, false]) {
        const name = newProject();
        const options = { transport, port, rfc3164, appName: name, syslogHostname: 'sender' };
        const client = syslogClient.createClient('127.0.0.1', options);
        await new Promise<void>((resolve, reject) => {
          const onSent = (error: Error | null) =>
            error === null || error === undefined ? resolve() : reject(error);
          client.log(`hello ${name}`, { severity: syslogClient.Severity.Error }, onSent);
        });
        client.close();
        await expect
          .poll(() => rows('', { columns: 'event_message, level, host, service' }))
          .toContainEqual({
            ...{ event_message: `hello ${name}`, level: 'err', host: 'sender' },
            service: rfc3164 ? null : name,
          });
      }
  });

  test('winston-syslog sends its lines', async () => {
    const { Syslog } = winston.transports as unknown as {
      Syslog: new (options: object) => winston.transport;
    };
    const transport = new Syslog({
      protocol: 'tcp4',
      host: '127.0.0.1',
      port: pinned,
      app_name: 'shop',
      eol: '\n',
      type: '5424',
    });
    const logger = winston.createLogger({ levels: winston.config.syslog.levels, transports: [transport] });
    for (let i = 0; i < 20; i++) logger.error(`winston ${i}`);
    await expect
      .poll(() => rows('pinned', { columns: "toInt64(countIf(event_message LIKE '%winston %')) AS n" }))
      .toEqual([{ n: 20 }]);
    logger.close();
  });
});

/** Sends 100 lines by rsyslog, which forwards them as `forwards` say. @param arrived polls for them, by a part of their text */
async function throughRsyslog(name: string, forwards: string, arrived: () => Promise<void>): Promise<void> {
  const own = await temporaryFolder();
  const port = await findFreePort();
  const file = join(own.path, 'rsyslog.conf');
  const input = `module(load="imtcp")\ninput(type="imtcp" port="${port}" address="127.0.0.1")\n`;
  await writeFile(file, `global(workDirectory="${own.path}")\n${input}${forwards}`);
  const args = ['-n', '-f', file, '-i', join(own.path, 'pid')];
  const child: ChildProcess = spawn(findProgram('rsyslog') ?? '', args, { stdio: 'ignore' });
  try {
    const ids = Array.from({ length: 100 }, (_, i) => `${name}-${i}`);
    const time = new Date(clock.now).toISOString();
    const text = ids.map((id) => `<13>1 ${time} h app - - - ${id}\n`).join('');
    const isSent = () =>
      sendTo(port, text).then(
        () => true,
        () => false,
      );
    await expect.poll(isSent).toBe(true);
    await arrived();
  } finally {
    const ended = once(child, 'close');
    child.kill();
    await ended;
    await own.remove();
  }
}

const forward = (target: number, more: string) =>
  `*.* action(type="omfwd" target="127.0.0.1" port="${target}" template="RSYSLOG_SyslogProtocol23Format" ${more})\n`;
const counted = (like: string, what = 'countIf(') => `toInt64(${what}event_message LIKE '${like}-%')) AS n`;

test.skipIf(findProgram('rsyslog') === undefined)('rsyslog forwards by TCP and UDP', async () => {
  const forwards =
    forward(tcp, 'protocol="tcp" TCP_Framing="octet-counted"') +
    forward(pinned, 'protocol="tcp"') +
    forward(udp, 'protocol="udp"');
  await throughRsyslog('from-rsyslog', forwards, async () => {
    const distinct = counted('from-rsyslog', 'uniqExactIf(event_message, ');
    await expect.poll(() => rows('pinned', { columns: distinct })).toEqual([{ n: 100 }]);
    await expect.poll(() => rows('', { columns: counted('from-rsyslog') })).toEqual([{ n: 200 }]);
  });
});

const hasTls = findProgram('rsyslog') !== undefined && findProgram('rsyslog-gnutls') !== undefined;

test.skipIf(!hasTls)(
  'rsyslog forwards over TLS, with its certificate, and checks that of the service',
  async () => {
    const [ca, ownKey] = [resolve(cert), resolve(key)];
    const files = `global(DefaultNetstreamDriverCAFile="${ca}" DefaultNetstreamDriverCertFile="${ca}" DefaultNetstreamDriverKeyFile="${ownKey}")\n`;
    const driver = 'StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="x509/certvalid"';
    const forwards = files + forward(tls, `protocol="tcp" ${driver}`);
    await throughRsyslog('over-tls', forwards, async () => {
      await expect.poll(() => rows('', { columns: counted('over-tls') })).toEqual([{ n: 100 }]);
    });
  },
);
