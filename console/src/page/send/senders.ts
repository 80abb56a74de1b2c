import { quoteShell } from '../../format/shell.ts';
import { COLLECTORS } from './collectors.ts';
import {
  createExample,
  keyOf,
  logsUrl,
  placeOf,
  quoted,
  type Sender,
  scriptKeyOf,
  VARIABLE,
} from './sender.ts';

const LIBRARIES = 'Libraries';
const SYSTEMS = 'Systems';

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
      note: 'The attribute tailrace.project of a record or resource overrides the project.',
    }),
  },
  ...COLLECTORS.map((one) => ({ ...one, group: 'Collectors' })),
  {
    id: 'rsyslog',
    label: 'rsyslog',
    group: SYSTEMS,
    isSorted: true,
    write(target) {
      const { host, port, isTls } = placeOf(target);
      const property = (name: string, from: string) =>
        `  property(outname="${name}" name="${from}" format="jsonf")`;
      return {
        text: `module(load="omelasticsearch")
template(name="tailrace" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
${property('message', 'msg')}
${property('level', 'syslogseverity-text')}
${property('host', 'hostname')}
${property('service', 'programname')}
  constant(outname="project" value=${quoted(target.project)} format="jsonf")
}
*.* action(type="omelasticsearch" server=${quoted(host)} serverport="${port}"${isTls ? ' usehttps="on"' : ''}
  uid="tailrace" pwd="${target.key ?? VARIABLE}" searchIndex="syslog" bulkmode="on" template="tailrace"
  queue.type="LinkedList" queue.dequeueBatchSize="500" action.resumeRetryCount="-1")`,
        note: 'Needs the package rsyslog-elasticsearch. The key has to stand in the file.',
      };
    },
  },
  {
    id: 'syslog-ng',
    label: 'syslog-ng',
    group: SYSTEMS,
    write: (target) => ({
      text: `destination d_tailrace {
  http(
    url(${quoted(logsUrl(target))})
    method("POST")
    headers("Content-Type: application/x-ndjson", "X-API-KEY: ${target.key ?? `\`${VARIABLE}\``}", ${quoted(`X-Project: ${target.project}`)})
    body("$(format-json timestamp=$ISODATE event_message=$MSG level=$LEVEL host=$HOST service=$PROGRAM)")
    delimiter("\\n")
    batch-lines(500)
    batch-timeout(1000)
  );
};
log { source(s_src); destination(d_tailrace); };`,
      note: 'Needs the package syslog-ng-mod-http. s_src is the source in your configuration.',
    }),
  },
  {
    id: 'load',
    label: 'Files',
    group: SYSTEMS,
    write: (target) => ({
      language: 'bash',
      text: `TAILRACE_DEFAULT_PROJECT=${quoteShell(target.project)} npx tailrace load ${target.source.name} events.ndjson --url ${quoteShell(target.origin)} --key "${keyOf(target)}"`,
      note: 'Reads files of NDJSON, plain, .gz or .zst, and standard input.',
    }),
  },
];
