import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { client as datadog, v2 } from '@datadog/datadog-api-client';
import { Client } from '@elastic/elasticsearch';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { pino } from 'pino';
import createDatadogTransport from 'pino-datadog-transport';
import pinoElasticsearch from 'pino-elasticsearch';
import pinoLoki from 'pino-loki';
import { Logger as SplunkLogger } from 'splunk-logging';
import syslogClient from 'syslog-client';
import { afterAll, describe, expect, test } from 'vitest';
import winston from 'winston';
import LokiTransport from 'winston-loki';
import 'winston-syslog';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY, temporaryFolder } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

// The real senders of each protocol, which have their own timers. What they send is tested by hand in the other files.
const LINES = 50;
const texts = Array.from({ length: LINES }, (_, i) => `line "${i}" ü`);
const service = await startProtocolService();
const [key, cert] = ['key', 'cert'].map((kind) => resolve('trial/tls', `one.${kind}.pem`)) as [
  string,
  string,
];
// Over HTTPS, as its port for syslog over TLS needs.
const overTls = await startProtocolService({
  TAILRACE_SYSLOG: `tcp://127.0.0.1:0 udp://127.0.0.1:0 tls://127.0.0.1:0?ca=${cert}`,
  TAILRACE_TLS_CERT_FILE: cert,
  TAILRACE_TLS_KEY_FILE: key,
});
afterAll(async () => {
  await service.close();
  await overTls.close();
});
const { url, clock } = service;
const { host, hostname, port } = new URL(url);
const [tcp = 0, udp = 0, tls = 0] = overTls.service.syslog.map((one) => one.port);

/** Waits until each line has been stored, once. @param like a part of the messages, of senders that name no project */
async function expectLines(project: string, { at = service, like = '' } = {}): Promise<void> {
  const isOwn = `event_message LIKE '%${like}%'`;
  const columns = `toInt64(countIf(${isOwn})) AS n, toInt64(uniqExactIf(event_message, ${isOwn})) AS different`;
  await expect.poll(() => at.rows(project, { columns })).toEqual([{ n: LINES, different: LINES }]);
}

function logAll(logger: { info(text: string): unknown }): void {
  for (const text of texts) logger.info(text);
}

// A CommonJS module whose types say that it has a default export.
const createElasticsearchStream = pinoElasticsearch as unknown as typeof pinoElasticsearch.default;

const SENDERS: Readonly<Record<string, (project: string) => unknown>> = {
  'pino-loki': async (project) => {
    const basicAuth = { username: 'any', password: PUBLIC_KEY };
    const transport = pinoLoki({ host: url, basicAuth, labels: { project }, batching: { interval: 0.05 } });
    logAll(pino(transport));
    transport.end();
    await once(transport, 'close');
  },
  'winston-loki': async (project) => {
    const options = { host: url, basicAuth: `any:${PUBLIC_KEY}`, labels: { project }, json: false };
    const transport = new LokiTransport({
      ...options,
      batching: true,
      interval: 0.1,
      replaceTimestamp: true,
    });
    logAll(winston.createLogger({ transports: [transport] }));
    await transport.flush();
  },
  "Elasticsearch's client": async (project) => {
    const client = new Client({ node: url, auth: { apiKey: PUBLIC_KEY } });
    expect((await client.info()).tagline).toBe('You Know, for Search');
    const dropped: unknown[] = [];
    const bad = { project, message: 'bad', '@timestamp': 'never' };
    await client.helpers.bulk({
      datasource: [...texts.map((message) => ({ project, message })), bad],
      onDocument: () => ({ create: { _index: 'app' } }),
      onDrop: ({ status, document }) => dropped.push([status, document.message]),
      flushBytes: 1_000,
    });
    await client.close();
    expect(dropped).toEqual([[400, 'bad']]);
  },
  'pino-elasticsearch': (project) => {
    const auth = { username: 'any', password: PUBLIC_KEY };
    const stream = createElasticsearchStream({ node: url, index: 'i', esVersion: 8, flushBytes: 500, auth });
    logAll(pino({ base: { project } }, stream));
    stream.end();
  },
  'splunk-logging': (project) => {
    const logger = new SplunkLogger({ token: PUBLIC_KEY, url, maxBatchCount: 10 });
    const metadata = { host: 'h', sourcetype: 's' };
    for (const message of texts) logger.send({ message: { message, project }, severity: 'warn', metadata });
  },
  "Datadog's client": async (project) => {
    const configuration = datadog.createConfiguration({
      authMethods: { apiKeyAuth: PUBLIC_KEY },
      baseServer: new datadog.BaseServerConfiguration(url, {}),
    });
    const body = texts.map((message) => ({ message, ddtags: `project:${project}` }));
    await new v2.LogsApi(configuration).submitLog({ body, contentEncoding: 'gzip' });
  },
  'pino-datadog-transport': (project) => {
    const transport = createDatadogTransport({
      // The second of the client's addresses, which names a host as it is.
      ddClientConf: { authMethods: { apiKeyAuth: PUBLIC_KEY }, serverIndex: 1 },
      ddServerConf: { protocol: 'http', name: host } as object,
      ...{ ddtags: `project:${project}`, sendIntervalMs: 50 },
    });
    logAll(pino(transport));
  },
  'winston, by HTTP as Datadog documents it': (project) => {
    const path = `/api/v2/logs?dd-api-key=${PUBLIC_KEY}&ddsource=nodejs&ddtags=project:${project}`;
    const transport = new winston.transports.Http({ host: hostname, port: Number(port), path });
    logAll(winston.createLogger({ transports: [transport] }));
  },
  "OpenTelemetry's exporter": async (project) => {
    const own = { url: `${url}/v1/logs`, headers: { 'x-api-key': PUBLIC_KEY }, compression: 'gzip' as never };
    const exporter = new OTLPLogExporter({ ...own, concurrencyLimit: LINES }); // or it drops what is more
    const provider = new LoggerProvider({
      processors: [new SimpleLogRecordProcessor({ exporter } as never)],
    });
    const logger = provider.getLogger('shop', '1.0');
    for (const body of texts) logger.emit({ body, attributes: { 'tailrace.project': project } });
    await provider.forceFlush();
    await expectLines(project); // a shutdown drops what is under way
    await provider.shutdown();
  },
};

test.each(Object.entries(SENDERS))('%s delivers every line once', async (_, send) => {
  const project = newProject();
  await send(project);
  await expectLines(project);
});

describe('syslog', () => {
  const at = overTls;

  test('winston-syslog delivers every line', async () => {
    const { Syslog } = winston.transports as unknown as {
      Syslog: new (options: object) => winston.transport;
    };
    const transport = new Syslog({ protocol: 'tcp4', host: hostname, port: tcp, eol: '\n', type: '5424' });
    const logger = winston.createLogger({ levels: winston.config.syslog.levels, transports: [transport] });
    logAll({ info: (text) => logger.error(`winston ${text}`) });
    await expectLines('', { at, like: 'winston line' });
    logger.close();
  });

  test.each([
    ['TCP', syslogClient.Transport.Tcp, tcp, true],
    ['TCP', syslogClient.Transport.Tcp, tcp, false],
    ['UDP', syslogClient.Transport.Udp, udp, false],
  ] as const)('syslog-client sends by %s', async (name, transport, target, rfc3164) => {
    const client = syslogClient.createClient('127.0.0.1', { transport, port: target, rfc3164 });
    const text = `hello by ${name} ${rfc3164}`;
    await new Promise<void>((resolve, reject) => {
      const onSent = (error: Error | null) => (error ? reject(error) : resolve());
      client.log(text, { severity: syslogClient.Severity.Error }, onSent);
    });
    client.close();
    const event = { event_message: text, level: 'err' };
    await expect.poll(() => at.rows('', { columns: 'event_message, level' })).toContainEqual(event);
  });
});

describe('rsyslog', () => {
  /** Sends the lines by rsyslog, which forwards them as `action` says. */
  async function sendThrough(action: string, arrived: () => Promise<void>): Promise<void> {
    const own = await temporaryFolder();
    const ownPort = await findFreePort();
    const file = join(own.path, 'rsyslog.conf');
    const input = `module(load="imtcp")\ninput(type="imtcp" port="${ownPort}" address="127.0.0.1")\n`;
    await writeFile(file, `global(workDirectory="${own.path}")\n${input}${action}`);
    const args = ['-n', '-f', file, '-i', join(own.path, 'pid')];
    const child = spawn(findProgram('rsyslog') ?? '', args, { stdio: 'ignore' });
    try {
      const time = new Date(clock.now).toISOString();
      const lines = texts.map((text) => `<13>1 ${time} h app - - - forwarded ${text}\n`).join('');
      await expect.poll(() => isSent(ownPort, lines)).toBe(true);
      await arrived();
    } finally {
      const ended = once(child, 'close');
      child.kill();
      await ended;
      await own.remove();
    }
  }

  /** @returns false if the port is not open yet */
  async function isSent(target: number, text: string): Promise<boolean> {
    const socket = connect(target, '127.0.0.1');
    let isOpen = true;
    socket.on('error', () => {
      isOpen = false;
    });
    socket.end(text);
    await once(socket, 'close');
    return isOpen;
  }

  const hasTls = findProgram('rsyslog') !== undefined && findProgram('rsyslog-gnutls') !== undefined;
  test.skipIf(!hasTls)(
    'forwards over TLS, with its certificate, and checks that of the service',
    async () => {
      const files = `global(DefaultNetstreamDriverCAFile="${cert}" DefaultNetstreamDriverCertFile="${cert}" DefaultNetstreamDriverKeyFile="${key}")\n`;
      const driver = 'StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="x509/certvalid"';
      const target = `target="127.0.0.1" port="${tls}" protocol="tcp"`;
      const action = `${files}*.* action(type="omfwd" ${target} template="RSYSLOG_SyslogProtocol23Format" ${driver})\n`;
      await sendThrough(action, () => expectLines('', { at: overTls, like: 'forwarded line' }));
    },
  );

  const hasBulk = findProgram('rsyslog') !== undefined && findProgram('omelasticsearch') !== undefined;
  test.skipIf(!hasBulk)('sends bulk requests, each line once', async () => {
    const project = newProject();
    const property = (name: string, from: string) =>
      `  property(outname="${name}" name="${from}" format="jsonf")\n`;
    const action =
      'module(load="omelasticsearch")\ntemplate(name="document" type="list" option.jsonf="on") {\n' +
      `${property('host', 'hostname')}${property('message', 'msg')}` +
      `  constant(outname="project" value="${project}" format="jsonf")\n}\n` +
      `*.* action(type="omelasticsearch" server="127.0.0.1" serverport="${port}" uid="tailrace" pwd="${PUBLIC_KEY}"` +
      ' searchIndex="shop" bulkmode="on" template="document")\n';
    await sendThrough(action, () => expectLines(project));
  });
});
