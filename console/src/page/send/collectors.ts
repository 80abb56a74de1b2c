import { bracedKeyOf, logsUrl, placeOf, quoted, type Sender, type SenderTarget, VARIABLE } from './sender.ts';

/** What Vector accepts in place of other services. */
const VECTOR_SOURCES = `sources:
  splunk: { type: splunk_hec_logs, address: 0.0.0.0:8088 }
  datadog: { type: datadog_agent, address: 0.0.0.0:8282 }
  heroku: { type: heroku_logs, address: 0.0.0.0:8083 }
  firehose: { type: aws_kinesis_firehose, address: 0.0.0.0:8084 }
  drains: { type: http_server, address: 0.0.0.0:8085, decoding: { codec: json } } # Vercel, Logpush
  syslog: { type: syslog, mode: tcp, address: 0.0.0.0:514 }
`;

const writeVector = (target: SenderTarget, inputs: string) => `sinks:
  tailrace:
    type: http
    inputs: [${inputs}]
    method: post
    uri: ${quoted(logsUrl(target))}
    encoding: { codec: json }
    compression: gzip
    request:
      headers:
        x-api-key: ${bracedKeyOf(target)}
        x-project: ${quoted(target.project)}`;

/** Programs that collect the logs of others. */
export const COLLECTORS: readonly Omit<Sender, 'group'>[] = [
  {
    id: 'vector',
    label: 'Vector',
    write: (target) => ({
      language: 'yaml',
      text: writeVector(target, 'my_logs'),
      note: 'Put the names of your Vector sources or transforms into inputs. The project applies to events that do not name one.',
    }),
  },
  {
    id: 'opentelemetry',
    label: 'OpenTelemetry Collector',
    write: (target) => ({
      language: 'yaml',
      text: `exporters:
  otlphttp/tailrace:
    logs_endpoint: ${quoted(`${target.origin}/v1/logs`)}
    compression: gzip
    headers:
      X-API-KEY: ${target.key ?? ['$', `{env:${VARIABLE}}`].join('')}
      X-Source: ${quoted(target.source.name)}
      X-Project: ${quoted(target.project)}

service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [otlphttp/tailrace]`,
      note: 'The attribute tailrace.project of a record or resource overrides the project.',
    }),
  },
  {
    id: 'fluent-bit',
    label: 'Fluent Bit',
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
    id: 'vector-sources',
    label: 'Splunk, Datadog, Heroku, Firehose, Vercel, Logpush, by Vector',
    write: (target) => ({
      language: 'yaml',
      text: `${VECTOR_SOURCES}${writeVector(target, 'splunk, datadog, heroku, firehose, drains, syslog')}`,
      note: 'Keep the sources that you need, and point their senders to Vector. docs/senders.md has more of each.',
    }),
  },
];
