/// <reference types="vite/client" />
import filebeat from '../../../../deploy/senders/filebeat.yaml?raw';
import fluentBit from '../../../../deploy/senders/fluent-bit.conf?raw';
import logstash from '../../../../deploy/senders/logstash.conf?raw';
import opentelemetrySdk from '../../../../deploy/senders/opentelemetry-sdk.sh?raw';
import otelCollector from '../../../../deploy/senders/otel-collector.yaml?raw';
import pino from '../../../../deploy/senders/pino.js?raw';
import promtail from '../../../../deploy/senders/promtail.yaml?raw';
import rsyslog from '../../../../deploy/senders/rsyslog.conf?raw';
import syslogNg from '../../../../deploy/senders/syslog-ng.conf?raw';
import vector from '../../../../deploy/senders/vector.yaml?raw';
import vectorSources from '../../../../deploy/senders/vector-sources.yaml?raw';
import winston from '../../../../deploy/senders/winston.js?raw';
import type { SourceView } from '../../../../src/management/view.ts';
import { ownMember, quoteShell } from '../../format/values.ts';
import type { Language } from '../../ui/code.tsx';

export interface Sender {
  readonly id: string;
  readonly label: string;
  readonly group: 'Libraries' | 'Collectors' | 'Systems';
  /** Whether `accepts` of a source's file chooses the source, else `logs`. */
  readonly isSorted?: boolean;
  readonly language?: Language;
  /** Its configuration, for the project `aurora`, the source `logs`, the service at 127.0.0.1:4000 and the key in TAILRACE_KEY. */
  readonly text: string;
  /** What the reader still has to change or know. */
  readonly note: string;
}

export const SENDERS: readonly Sender[] = [
  {
    ...{ id: 'curl', label: 'curl', group: 'Libraries', language: 'bash' },
    text: `curl -s -H "X-API-KEY: $TAILRACE_KEY" -H "Content-Type: application/json" \\
  'http://127.0.0.1:4000/api/logs?source_name=logs' \\
  -d 'EXAMPLE'`,
    note: 'Without a timestamp an event gets the time of arrival. Metadata is returned as sent.',
  },
  {
    ...{ id: 'pino', label: 'pino', group: 'Libraries', language: 'javascript' },
    text: pino,
    note: 'The fields of a line, such as its level, become metadata.',
  },
  {
    ...{ id: 'winston', label: 'winston', group: 'Libraries', isSorted: true, language: 'javascript' },
    text: winston,
    note: 'Labels become metadata.',
  },
  {
    ...{ id: 'opentelemetry-sdk', label: 'OpenTelemetry SDK', group: 'Libraries', language: 'bash' },
    text: opentelemetrySdk,
    note: 'The attribute tailrace.project of a record or resource overrides the project.',
  },
  {
    ...{ id: 'vector', label: 'Vector', group: 'Collectors', language: 'yaml', text: vector },
    note: 'Put the names of your Vector sources or transforms into inputs. The project applies to events that do not name one.',
  },
  {
    ...{ id: 'opentelemetry', label: 'OpenTelemetry Collector', group: 'Collectors', language: 'yaml' },
    text: otelCollector,
    note: 'The attribute tailrace.project of a record or resource overrides the project.',
  },
  {
    ...{ id: 'fluent-bit', label: 'Fluent Bit', group: 'Collectors', text: fluentBit },
    note: 'Its inputs call the text log; the filter renames it.',
  },
  {
    ...{ id: 'promtail', label: 'Promtail, Alloy, other senders for Loki', group: 'Collectors' },
    ...{ isSorted: true, language: 'yaml' },
    text: promtail,
    note: 'The tenant is the project. Promtail reads variables with -config.expand-env=true.',
  },
  {
    ...{ id: 'filebeat', label: 'Filebeat, other Beats', group: 'Collectors', isSorted: true },
    language: 'yaml',
    text: filebeat,
    note: 'Sends by the protocol of Elasticsearch.',
  },
  {
    ...{ id: 'logstash', label: 'Logstash', group: 'Collectors', isSorted: true },
    text: logstash,
    note: 'The index is a label by which a source may accept the events.',
  },
  {
    id: 'vector-sources',
    label: 'Splunk, Datadog, Heroku, Firehose, Vercel, Logpush, by Vector',
    ...{ group: 'Collectors', language: 'yaml' },
    text: vectorSources,
    note: 'Keep the sources that you need, and point their senders to Vector. docs/senders.md has more of each.',
  },
  {
    ...{ id: 'rsyslog', label: 'rsyslog', group: 'Systems', isSorted: true, text: rsyslog },
    note: 'Needs the package rsyslog-elasticsearch. The key has to stand in the file.',
  },
  {
    ...{ id: 'syslog-ng', label: 'syslog-ng', group: 'Systems', text: syslogNg },
    note: 'Needs the package syslog-ng-mod-http. s_src is the source in your configuration.',
  },
  {
    ...{ id: 'load', label: 'Files', group: 'Systems', language: 'bash' },
    text: `TAILRACE_DEFAULT_PROJECT='aurora' npx tailrace load logs events.ndjson --url 'http://127.0.0.1:4000' --key "$TAILRACE_KEY"`,
    note: 'Reads files of NDJSON, plain, .gz or .zst, and standard input.',
  },
];

export interface SenderTarget {
  /** URL of the service: `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly source: SourceView;
  readonly project: string;
  /** undefined: the variable that holds it. */
  readonly key: string | undefined;
}

/** What the text of a sender names, in its quotes if these matter. */
const NAMES =
  /\["http:\/\/127\.0\.0\.1:4000"\]|(?:process\.env\.|\$\{(?:env:)?|[$`])?TAILRACE_KEY[}`]?|http:\/\/127\.0\.0\.1:4000|127\.0\.0\.1|serverport="4000"|\b4000\b|Tls +off|(?<=source_name=|x-source=|load |X-Source: )logs\b|SOURCE_ID|'EXAMPLE'|x-project=aurora|(["']?)aurora\1/g;

export function writeSender({ text }: Sender, { origin, source, project, key }: SenderTarget): string {
  const { hostname, port, protocol } = new URL(origin);
  const isTls = protocol === 'https:';
  const place = port || (isTls ? '443' : '80');
  const values: Readonly<Record<string, string>> = {
    // Beats and Logstash take 9200 without a port, even for HTTPS.
    '["http://127.0.0.1:4000"]': `["${protocol}//${hostname}:${place}"]`,
    'http://127.0.0.1:4000': origin,
    '127.0.0.1': hostname,
    '4000': place,
    'serverport="4000"': `serverport="${place}"${isTls ? ' usehttps="on"' : ''}`,
    ...{ logs: source.name, SOURCE_ID: source.id, aurora: project },
    'x-project=aurora': `x-project=${encodeURIComponent(project)}`,
    '"aurora"': JSON.stringify(project),
    "'aurora'": quoteShell(project),
    "'EXAMPLE'": quoteShell(JSON.stringify([createExample(source.columns, project)], null, 2)),
  };
  return text.trimEnd().replaceAll(NAMES, (name: string) => {
    if (name.includes('KEY'))
      return key === undefined ? name : /^process/.test(name) ? JSON.stringify(key) : key;
    if (name.startsWith('Tls')) return isTls ? name.replace('off', 'on') : name;
    return ownMember(values, name) ?? name;
  });
}

const EXAMPLES: Readonly<Record<string, unknown>> = { integer: 200, number: 1.5, boolean: true };
const COLUMNS_SHOWN = 4;

/** An event with values at the paths of some of the source's columns. */
function createExample(columns: SourceView['columns'], project: string): unknown {
  const event: unknown = { project, event_message: 'it works', metadata: {} };
  return columns.slice(0, COLUMNS_SHOWN).reduce((filled, { name, type, path }) => {
    const value = name === 'level' ? 'info' : ownMember(EXAMPLES, type);
    return put(filled, path, value ?? `example ${name.replaceAll('_', ' ')}`);
  }, event);
}

/** With a value at a path, unless something is there, or another column has the whole of it. */
function put(target: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return target ?? value;
  if (typeof target !== 'object' && target !== undefined) return target;
  const members: Readonly<Record<string, unknown>> = { ...target };
  return { ...members, [first]: put(ownMember(members, first), rest, value) };
}
