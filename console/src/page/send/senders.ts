import type { SourceView } from '../../../../src/management/view.ts';
import type { Language } from '../../ui/code.tsx';
import { createSnippets, quoteShell } from '../source/snippet.ts';

/** What a sender is set up with. */
export interface SenderTarget {
  /** URL of the service: `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly source: SourceView;
  /** The project of the events. */
  readonly project: string;
  /** The key, or a reference to the variable that holds it. */
  readonly key: string | undefined;
}

/** How a sender is set up. */
export interface SenderText {
  readonly language?: Language;
  readonly text: string;
  /** What the reader still has to change or know. */
  readonly note: string;
}

/** A program that sends logs. A new one is an entry in `SENDERS`. */
export interface Sender {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  /** Whether `accepts` of a source's file chooses the source, else `logs`. */
  readonly isSorted?: boolean;
  readonly write: (target: SenderTarget) => SenderText;
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

function placeOf({ origin }: SenderTarget): Place {
  const { hostname, port, protocol } = new URL(origin);
  const isTls = protocol === 'https:';
  return { host: hostname, port: port === '' ? (isTls ? 443 : 80) : Number(port), isTls };
}

const VARIABLE = 'TAILRACE_KEY';
/** The key, else its variable as shells name it. */
const keyOf = ({ key }: SenderTarget) => key ?? `$${VARIABLE}`;
/** As `keyOf`, as most configurations name a variable. */
const bracedKeyOf = ({ key }: SenderTarget) => key ?? ['$', '{', VARIABLE, '}'].join('');
const quoted = (text: string) => JSON.stringify(text);

/** Senders that the page of a source shows, too. */
function fromSource(id: ReturnType<typeof createSnippets>[number]['id']): Sender['write'] {
  return (target) => {
    const found = createSnippets(target).find((one) => one.id === id);
    if (found === undefined) throw new Error(`no snippet ${id}`);
    const { language, text, note } = found;
    return { language, note, text: target.key === undefined ? text : withKey(text, target.key) };
  };
}

function withKey(text: string, key: string): string {
  return text
    .replaceAll('process.env.TAILRACE_KEY', () => quoted(key))
    .replaceAll(/\$\{env:TAILRACE_KEY\}|\$\{TAILRACE_KEY\}|\$TAILRACE_KEY/g, () => key);
}

const PIPELINES = 'Collectors';
const LIBRARIES = 'Libraries';
const SYSTEMS = 'Systems';
const PLATFORMS = 'Platforms';

export const SENDERS: readonly Sender[] = [
  { id: 'curl', label: 'curl', group: LIBRARIES, write: fromSource('curl') },
  { id: 'pino', label: 'pino', group: LIBRARIES, write: fromSource('pino') },
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
  basicAuth: 'tailrace:' + ${target.key === undefined ? 'process.env.TAILRACE_KEY' : quoted(target.key)},
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
  { id: 'vector', label: 'Vector', group: PIPELINES, write: fromSource('vector') },
  {
    id: 'opentelemetry',
    label: 'OpenTelemetry Collector',
    group: PIPELINES,
    write: fromSource('opentelemetry'),
  },
  {
    id: 'fluent-bit',
    label: 'Fluent Bit',
    group: PIPELINES,
    write(target) {
      const { host, port, isTls } = placeOf(target);
      return {
        text: `[FILTER]
    Name             modify
    Match            *
    Rename           log event_message

[OUTPUT]
    Name             http
    Match            *
    Host             ${host}
    Port             ${port}
    Tls              ${isTls ? 'on' : 'off'}
    URI              /api/logs?source_name=${target.source.name}
    Format           json
    Json_date_key    timestamp
    Json_date_format iso8601
    Compress         gzip
    Header           X-API-KEY ${bracedKeyOf(target)}
    Header           X-Project ${target.project}`,
        note: 'Its inputs call the text log; the filter renames it.',
      };
    },
  },
  {
    id: 'promtail',
    label: 'Promtail, Alloy, other senders for Loki',
    group: PIPELINES,
    isSorted: true,
    write: (target) => ({
      language: 'yaml',
      text: `clients:
  - url: ${quoted(`${target.origin}/loki/api/v1/push`)}
    tenant_id: ${quoted(target.project)}
    basic_auth:
      username: tailrace
      password: ${quoted(bracedKeyOf(target))}`,
      note: 'The tenant is the project. Promtail reads variables with -config.expand-env=true.',
    }),
  },
  {
    id: 'filebeat',
    label: 'Filebeat, other Beats',
    group: PIPELINES,
    isSorted: true,
    write: (target) => ({
      language: 'yaml',
      text: `output.elasticsearch:
  hosts: [${quoted(target.origin)}]
  headers:
    X-API-KEY: ${quoted(bracedKeyOf(target))}
    X-Project: ${quoted(target.project)}
setup.template.enabled: false
setup.ilm.enabled: false`,
      note: 'Sends by the protocol of Elasticsearch.',
    }),
  },
  {
    id: 'logstash',
    label: 'Logstash',
    group: PIPELINES,
    isSorted: true,
    write: (target) => ({
      text: `output {
  elasticsearch {
    hosts => [${quoted(target.origin)}]
    index => "my-app"
    manage_template => false
    ilm_enabled => false
    custom_headers => {
      "X-API-KEY" => ${quoted(bracedKeyOf(target))}
      "X-Project" => ${quoted(target.project)}
    }
  }
}`,
      note: 'The index is a label by which a source may accept the events.',
    }),
  },
  {
    id: 'splunk',
    label: 'Splunk HTTP Event Collector, Docker',
    group: PIPELINES,
    isSorted: true,
    write: (target) => ({
      language: 'bash',
      text: `docker run --log-driver splunk \\
  --log-opt splunk-url=${quoteShell(target.origin)} \\
  --log-opt splunk-token="${keyOf(target)}" \\
  --log-opt splunk-format=json \\
  --log-opt splunk-sourcetype=my-app \\
  my-image`,
      note: 'Docker names no project: pin it in the key, or set TAILRACE_DEFAULT_PROJECT of the service.',
    }),
  },
  {
    id: 'datadog',
    label: 'Datadog Agent',
    group: PIPELINES,
    isSorted: true,
    write(target) {
      const { host, port, isTls } = placeOf(target);
      return {
        language: 'yaml',
        text: `logs_enabled: true
api_key: ${quoted(bracedKeyOf(target))}
tags: [${quoted(`project:${target.project}`)}]
logs_config:
  logs_dd_url: ${quoted(`${host}:${port}`)}
  logs_no_ssl: ${!isTls}
  force_use_http: true`,
        note: 'In datadog.yaml. The tag project names the project.',
      };
    },
  },
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
