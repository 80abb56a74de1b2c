import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client } from '@elastic/elasticsearch';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { pino } from 'pino';
import pinoElasticsearch from 'pino-elasticsearch';
import { createWriteStream } from 'pino-logflare';
import pinoLoki from 'pino-loki';
import { afterAll, describe, expect, test } from 'vitest';
import winston from 'winston';
import LokiTransport from 'winston-loki';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { startProtocolService } from '../support/protocols.ts';
import { newProject, PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

// The real senders of each protocol, which have their own timers. What they send is tested by hand in the other files.
const LINES = 50;
const texts = Array.from({ length: LINES }, (_, i) => `line "${i}" ü`);
const service = await startProtocolService();
afterAll(service.close);
const { url, clock } = service;
const { port } = new URL(url);

/** Waits until each line has been stored, once. */
async function expectLines(project: string): Promise<void> {
  const columns = 'toInt64(count()) AS n, toInt64(uniqExact(event_message)) AS different';
  await expect.poll(() => service.rows(project, { columns })).toEqual([{ n: LINES, different: LINES }]);
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
  'pino-logflare': (project) => {
    const own = { apiBaseUrl: `${url}/api`, apiKey: PUBLIC_KEY, sourceName: 'logs', size: 10 };
    const stream = createWriteStream(own as never); // its types know neither an address nor a name
    logAll(pino({ base: { project } }, stream));
    stream.end();
  },
  'winston-loki': async (project) => {
    const to = { host: url, basicAuth: `any:${PUBLIC_KEY}`, labels: { project }, json: false };
    const transport = new LokiTransport({ ...to, batching: true, interval: 0.1, replaceTimestamp: true });
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
  "OpenTelemetry's exporter": async (project) => {
    const own = { url: `${url}/v1/logs`, headers: { 'x-api-key': PUBLIC_KEY }, compression: 'gzip' as never };
    const exporter = new OTLPLogExporter({ ...own, concurrencyLimit: LINES }); // or it drops what is more
    const processors = [new SimpleLogRecordProcessor({ exporter } as never)];
    const provider = new LoggerProvider({ processors });
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

  const hasBulk = findProgram('rsyslog') !== undefined && findProgram('omelasticsearch') !== undefined;
  test.skipIf(!hasBulk)('sends bulk requests, each line once', async () => {
    const project = newProject();
    const shipped = await readFile('deploy/senders/rsyslog.conf', 'utf8');
    const own = shipped.replace('aurora', project).replace('TAILRACE_KEY', PUBLIC_KEY);
    const action = own.replace('4000', port);
    await sendThrough(action, () => expectLines(project));
  });
});
