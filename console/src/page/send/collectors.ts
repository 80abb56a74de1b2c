import { quoteShell } from '../../format/shell.ts';
import { bracedKeyOf, keyOf, logsUrl, placeOf, quoted, type Sender, VARIABLE } from './sender.ts';

/** Programs that collect the logs of others. */
export const COLLECTORS: readonly Omit<Sender, 'group'>[] = [
  {
    id: 'vector',
    label: 'Vector',
    write: (target) => ({
      language: 'yaml',
      text: `sinks:
  tailrace:
    type: http
    inputs: [my_logs]
    method: post
    uri: ${quoted(logsUrl(target))}
    encoding: { codec: json }
    compression: gzip
    request:
      headers:
        x-api-key: ${bracedKeyOf(target)}
        x-project: ${quoted(target.project)}`,
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
    id: 'splunk',
    label: 'Splunk HTTP Event Collector, Docker',
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
];
