import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { PRIVATE_KEY, PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

// The clients are the packages that people have installed; nothing of them is replaced.
const SOURCE = 'cloudflare.logs.prod';
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
