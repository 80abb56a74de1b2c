import { quoteShell } from '../../format/shell.ts';
import { COLLECTORS } from './collectors.ts';
import { createExample, keyOf, logsUrl, placeOf, quoted, type Sender, scriptKeyOf } from './sender.ts';

const LIBRARIES = 'Libraries';
const SYSTEMS = 'Systems';
const PLATFORMS = 'Platforms';

export const SENDERS: readonly Sender[] = [
  {
    id: 'curl',
    label: 'curl',
    group: LIBRARIES,
    write: (target) => ({
      language: 'bash',
      text: `curl -s -H "X-API-KEY: ${keyOf(target)}" -H "Content-Type: application/json" \\
  ${quoteShell(logsUrl(target))} \\
  -d ${quoteShell(JSON.stringify([createExample(target.source.columns, target.project)], null, 2))}`,
      note: 'Without a timestamp an event gets the time of arrival. Metadata is returned as sent.',
    }),
  },
  {
    id: 'pino',
    label: 'pino',
    group: LIBRARIES,
    write: (target) => ({
      language: 'javascript',
      text: `// npm install pino pino-logflare
import { pino } from 'pino';

const transport = pino.transport({
  target: 'pino-logflare',
  options: {
    apiBaseUrl: ${quoted(target.origin)},
    apiKey: ${scriptKeyOf(target)},
    sourceToken: ${quoted(target.source.id)}, // ${target.source.name}
  },
});
const logger = pino({ base: { project: ${quoted(target.project)} } }, transport);

logger.info({ order: 1 }, 'it works');`,
      note: 'The fields of a line, such as its level, become metadata.',
    }),
  },
  {
    id: 'winston',
    label: 'winston',
    group: LIBRARIES,
    isSorted: true,
    write: (target) => ({
      language: 'javascript',
      text: `// npm install winston winston-loki
import winston from 'winston';
import LokiTransport from 'winston-loki';

const transport = new LokiTransport({
  host: ${quoted(target.origin)},
  basicAuth: 'tailrace:' + ${scriptKeyOf(target)},
  labels: { app: 'my-app', project: ${quoted(target.project)} },
  json: true,
});
const logger = winston.createLogger({ transports: [transport] });

logger.info('it works');`,
      note: 'Labels become metadata.',
    }),
  },
  {
    id: 'opentelemetry-sdk',
    label: 'OpenTelemetry SDK',
    group: LIBRARIES,
    write: (target) => ({
      language: 'bash',
      text: `export OTEL_LOGS_EXPORTER=otlp
export OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${quoteShell(`${target.origin}/v1/logs`)}
export OTEL_EXPORTER_OTLP_LOGS_HEADERS="x-api-key=${keyOf(target)},x-source=${target.source.name},x-project=${encodeURIComponent(target.project)}"`,
      note: 'For gRPC set TAILRACE_OTLP_GRPC_PORT of the service, the protocol grpc, and that port.',
    }),
  },
  ...COLLECTORS.map((one) => ({ ...one, group: 'Collectors' })),
  {
    id: 'rsyslog',
    label: 'rsyslog',
    group: SYSTEMS,
    isSorted: true,
    write(target) {
      const { host } = placeOf(target);
      return {
        text: `action(type="omfwd" target=${quoted(host)} port="5514" protocol="tcp"
       TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"
       queue.type="LinkedList" action.resumeRetryCount="-1")`,
        note: `Needs TAILRACE_SYSLOG of the service, such as tcp://0.0.0.0:5514?project=${encodeURIComponent(target.project)}. Syslog has no keys.`,
      };
    },
  },
  {
    id: 'syslog-ng',
    label: 'syslog-ng',
    group: SYSTEMS,
    isSorted: true,
    write(target) {
      const { host } = placeOf(target);
      return {
        text: `destination d_tailrace { syslog(${quoted(host)} transport("tcp") port(5514)); };
log { source(s_src); destination(d_tailrace); };`,
        note: `Needs TAILRACE_SYSLOG of the service, such as tcp://0.0.0.0:5514?project=${encodeURIComponent(target.project)}. Syslog has no keys.`,
      };
    },
  },
  {
    id: 'load',
    label: 'Files',
    group: SYSTEMS,
    write: (target) => ({
      language: 'bash',
      text: `TAILRACE_DEFAULT_PROJECT=${quoteShell(target.project)} npx tailrace load ${target.source.name} events.ndjson --url ${quoteShell(target.origin)} --key "${keyOf(target)}"`,
      note: 'Reads NDJSON, Parquet, CSV and TSV, also from http://, https:// and s3:// addresses.',
    }),
  },
  {
    id: 'vercel',
    label: 'Vercel',
    group: PLATFORMS,
    isSorted: true,
    write: (target) => ({
      text: `${target.origin}/drains/vercel
X-API-KEY: ${keyOf(target)}
X-Project: ${target.project}`,
      note: 'In a drain for logs: this address, JSON or NDJSON, and these custom headers. Set TAILRACE_VERCEL_SECRET of the service to its secret.',
    }),
  },
  {
    id: 'logpush',
    label: 'Cloudflare Logpush',
    group: PLATFORMS,
    isSorted: true,
    write: (target) => ({
      text: `${target.origin}/drains/logpush?header_X-API-KEY=${encodeURIComponent(keyOf(target))}&header_X-Project=${encodeURIComponent(target.project)}`,
      note: 'As destination_conf of a job for an HTTP destination.',
    }),
  },
  {
    id: 'firehose',
    label: 'Amazon Data Firehose, CloudWatch',
    group: PLATFORMS,
    isSorted: true,
    write: (target) => ({
      text: `HTTP endpoint URL  ${target.origin}/drains/firehose
Access key         ${keyOf(target)}
Content encoding   GZIP
Parameters         project = ${target.project}`,
      note: 'The destination of a stream.',
    }),
  },
  {
    id: 'heroku',
    label: 'Heroku',
    group: PLATFORMS,
    isSorted: true,
    write(target) {
      const url = new URL('/drains/heroku', target.origin);
      const address = `${url.protocol}//tailrace:${keyOf(target)}@${url.host}${url.pathname}`;
      return {
        language: 'bash',
        text: `heroku drains:add "${address}" -a my-app`,
        note: 'It names no project: pin it in the key.',
      };
    },
  },
];
