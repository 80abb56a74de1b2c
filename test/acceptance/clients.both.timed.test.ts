import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

// pino loads it by name in a thread of its own.
const PINO_LOGFLARE = import.meta.resolve('pino-logflare');
// The clients are the packages that people have installed; nothing of them is replaced.
const SOURCE = 'cloudflare.logs.prod';
const SOURCE_ID = 'dca3fc05-a0a4-4270-92ac-ecfc72d28b68';
const folder = await temporaryFolder();
let url = '';

beforeAll(async () => {
  const service = await startServe({
    TAILRACE_DATA_DIR: folder.path,
    TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
    TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
  });
  url = service.url;
});
afterAll(async () => {
  await endLeftProcesses();
  await folder.remove();
});

async function logsOf(project: string): Promise<Record<string, unknown>[]> {
  const answer = await get(url, `${QUERY_PATH}/logs.all?project=${project}`);
  expect(answer.status).toBe(200);
  return answer.body.result;
}

/** Where and how an OpenTelemetry exporter sends; the key may only ingest. */
const exporterOptions = () => ({
  url: `${url}/v1/logs`,
  headers: { 'x-api-key': PUBLIC_KEY, 'x-source': SOURCE },
});

const attributesOf = (project: string, order: number) => ({
  'tailrace.project': project,
  'order.id': order,
  amount: 12.5,
  retried: false,
  tags: ['a', 'ö'],
  card: { issuer: 'visa', last: [4, 2] },
});

const INSTANT_MS = Date.now() - 60_000;

/** Emits records through the SDK as an application would, and waits until the exporter has had its answers. */
async function emitRecords(exporter: LogRecordExporter, project: string): Promise<void> {
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('checkout', '1.2.3');
  for (let i = 0; i < 3; i++) {
    logger.emit({
      timestamp: INSTANT_MS + i,
      severityNumber: 17,
      severityText: 'ERROR',
      body: `payment ${i} failed`,
      attributes: attributesOf(project, i),
    });
  }
  await provider.forceFlush();
  await provider.shutdown();
}

const sent = (project: string) =>
  [2, 1, 0].map((i) => ({
    timestamp: (INSTANT_MS + i) * 1000,
    event_message: `payment ${i} failed`,
    metadata: {
      level: 'error',
      severity_text: 'ERROR',
      severity_number: 17,
      attributes: attributesOf(project, i),
      resource: { 'telemetry.sdk.language': 'nodejs' },
      scope: { name: 'checkout', version: '1.2.3' },
    },
  }));

type Options = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;
// The enum that names it is in a package of the exporter.
const compression = 'gzip' as NonNullable<Options['compression']>;

test.each([
  ['http/json', 'otel-json', () => new JsonExporter(exporterOptions())],
  [
    'http/protobuf, compressed',
    'otel-protobuf',
    () => new ProtobufExporter({ ...exporterOptions(), compression }),
  ],
])('OpenTelemetry log records arrive over %s', async (_, project, createExporter) => {
  await emitRecords(createExporter(), project);
  expect(await logsOf(project)).toMatchObject(sent(project));
});

test('a pino logger with pino-logflare as its transport sends its lines with their fields', async () => {
  const transport = pino.transport({
    target: PINO_LOGFLARE,
    // One whole batch: pino-logflare 0.5.2 loses lines that come while it sends, and ending it sends a batch twice.
    options: {
      apiKey: PUBLIC_KEY,
      sourceToken: SOURCE_ID,
      apiBaseUrl: url,
      batchSize: 4,
      batchTimeout: 60_000,
    },
  });
  const logger = pino({ base: { project: 'pino' } }, transport);
  logger.info({ order: 1, card: { issuer: 'visa', last: null } }, 'first');
  logger.child({ order: 2 }).warn('second');
  logger.error({ order: 3, tags: [] }, 'third');
  logger.fatal({ order: 4, 日本: '😀' }, 'fourth');
  const rows = await vi.waitFor(async () => {
    const found = await logsOf('pino');
    expect(found).toHaveLength(4);
    return found;
  }, 10_000);
  transport.end();
  const metadata = Object.fromEntries(rows.map((row) => [row['event_message'], row['metadata']]));
  const common = { project: 'pino', context: {} };
  expect(metadata).toEqual({
    first: { ...common, order: 1, card: { issuer: 'visa', last: null }, level: 'info' },
    second: { ...common, order: 2, level: 'warning' },
    third: { ...common, order: 3, tags: [], level: 'error' },
    fourth: { ...common, order: 4, 日本: '😀', level: 'critical' },
  });
});
