import type { AcceptedProtocol } from '../src/definitions/accepts.ts';
import type { BodyFormat } from '../src/ingest/wire-events.ts';

/** An event as a trial sends it by any protocol. */
export interface TrialEvent {
  /** The first word of its message. */
  readonly id: string;
  /** ms since the epoch. */
  readonly timeMs: number;
  readonly project: string;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How events are written for a protocol. A new one is an entry in `WIRES`. */
export interface Wire {
  readonly path: string;
  readonly type: string;
  readonly format: BodyFormat;
  /** Status if all events are stored. */
  readonly ok: number;
  /** The header by which a repeated request is known, if senders set one. */
  readonly repeatHeader?: string;
  readonly write: (events: readonly TrialEvent[]) => string;
}

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
const textOf = ({ id, message }: TrialEvent) => `${id} ${message}`;
const flat = (event: TrialEvent, message: string) => ({
  ...{ [message]: textOf(event), project: event.project },
  ...event.metadata,
});
const isoTime = ({ timeMs }: TrialEvent) => new Date(timeMs).toISOString();
const json = 'application/json';

/** Logflare's protocol, with which others are compared. */
export const NDJSON: Wire = {
  path: '/api/logs?source=logs',
  type: 'application/x-ndjson',
  format: 'ndjson',
  ok: 200,
  repeatHeader: 'idempotency-key',
  write: (events) =>
    lines(
      events.map((event) => {
        const { project, metadata } = event;
        const timestamp = isoTime(event);
        return JSON.stringify({ timestamp, project, event_message: textOf(event), metadata });
      }),
    ),
};

/** Each protocol whose bodies carry many events over HTTP. */
export const WIRES: Readonly<Record<Exclude<AcceptedProtocol, 'syslog'>, Wire>> = {
  loki: {
    path: '/loki/api/v1/push',
    type: json,
    format: 'loki-json',
    ok: 204,
    write: (events) =>
      JSON.stringify({
        streams: events.map((event) => ({
          stream: { project: event.project, app: 'trial' },
          values: [[`${event.timeMs}000000`, textOf(event), toTexts(event.metadata)]],
        })),
      }),
  },
  elasticsearch: {
    path: '/_bulk',
    type: 'application/x-ndjson',
    format: 'elasticsearch-bulk',
    ok: 200,
    write: (events) =>
      lines(
        events.map(
          (event) =>
            `{"create":{}}\n${JSON.stringify({ '@timestamp': isoTime(event), ...flat(event, 'message') })}`,
        ),
      ),
  },
  splunk: {
    path: '/services/collector',
    type: json,
    format: 'splunk-events',
    ok: 200,
    write: (events) =>
      events
        .map((event) => JSON.stringify({ time: event.timeMs / 1_000, event: flat(event, 'message') }))
        .join(''),
  },
  datadog: {
    path: '/api/v2/logs',
    type: json,
    format: 'datadog-json',
    ok: 202,
    write: (events) =>
      JSON.stringify(events.map((event) => ({ timestamp: event.timeMs, ...flat(event, 'message') }))),
  },
  vercel: {
    path: '/drains/vercel',
    type: json,
    format: 'vercel-json',
    ok: 200,
    write: (events) =>
      JSON.stringify(events.map((event) => ({ timestamp: event.timeMs, ...flat(event, 'message') }))),
  },
  logpush: {
    path: '/drains/logpush',
    type: 'text/plain',
    format: 'logpush',
    ok: 200,
    write: (events) =>
      lines(
        events.map((event) =>
          JSON.stringify({ EdgeStartTimestamp: isoTime(event), ...flat(event, 'Message') }),
        ),
      ),
  },
  firehose: {
    path: '/drains/firehose',
    type: json,
    format: 'firehose',
    ok: 200,
    repeatHeader: 'x-amz-firehose-request-id',
    write: (events) =>
      JSON.stringify({
        requestId: 'trial',
        timestamp: events[0]?.timeMs,
        records: events.map((event) => {
          const text = JSON.stringify({ timestamp: event.timeMs, ...flat(event, 'message') });
          return { data: Buffer.from(text).toString('base64') };
        }),
      }),
  },
  heroku: {
    path: '/drains/heroku',
    type: 'application/logplex-1',
    format: 'heroku',
    ok: 204,
    repeatHeader: 'logplex-frame-id',
    write: (events) =>
      events
        .map((event) => {
          const message = `${textOf(event)} ${JSON.stringify(event.metadata)}`;
          const text = `<40>1 ${isoTime(event)} host app web.1 - ${message}\n`;
          return `${Buffer.byteLength(text)} ${text}`;
        })
        .join(''),
  },
  otlp: {
    path: '/v1/logs',
    type: json,
    format: 'otlp-json',
    ok: 200,
    write: (events) =>
      JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: events.map(toRecord) }] }] }),
  },
};

function toRecord(event: TrialEvent) {
  const texts = { 'tailrace.project': event.project, ...toTexts(event.metadata) };
  return {
    timeUnixNano: `${event.timeMs}000000`,
    body: { stringValue: textOf(event) },
    attributes: Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  };
}

/** Structured metadata of Loki, and attributes as most exporters write them, hold texts only. */
function toTexts(metadata: TrialEvent['metadata']): Record<string, string> {
  const entries = Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
