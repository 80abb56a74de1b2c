import type { AcceptedProtocol } from '../src/definitions/accepts.ts';
import type { BodyFormat } from '../src/ingest/body-format.ts';

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
  readonly write: (events: readonly TrialEvent[]) => string;
}

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
const textOf = ({ id, message }: TrialEvent) => `${id} ${message}`;
const isoTime = ({ timeMs }: TrialEvent) => new Date(timeMs).toISOString();
const json = 'application/json';

/** Logflare's protocol. */
export const NDJSON: Wire = {
  path: '/api/logs?source=logs',
  type: 'application/x-ndjson',
  format: 'ndjson',
  ok: 200,
  write: (events) =>
    lines(
      events.map((event) => {
        const { project, metadata } = event;
        const timestamp = isoTime(event);
        return JSON.stringify({ timestamp, project, event_message: textOf(event), metadata });
      }),
    ),
};

const wire = (
  path: string,
  ok: number,
  [format, type]: [BodyFormat, string],
  write: Wire['write'],
): Wire => ({
  ...{ path, ok, format, type, write },
});

/** Each protocol whose bodies carry many events over HTTP. */
export const WIRES: Readonly<Record<AcceptedProtocol, Wire>> = {
  loki: wire('/loki/api/v1/push', 204, ['loki-json', json], (events) => {
    const toStream = (event: TrialEvent) => ({
      stream: { project: event.project, app: 'trial' },
      values: [[`${event.timeMs}000000`, textOf(event), toTexts(event.metadata)]],
    });
    return JSON.stringify({ streams: events.map(toStream) });
  }),
  elasticsearch: wire('/_bulk', 200, ['elasticsearch-bulk', 'application/x-ndjson'], (events) => {
    const toText = (event: TrialEvent) => {
      const { project, metadata } = event;
      return JSON.stringify({ '@timestamp': isoTime(event), message: textOf(event), project, ...metadata });
    };
    return lines(events.map((event) => `{"create":{}}\n${toText(event)}`));
  }),
  otlp: wire('/v1/logs', 200, ['otlp-json', json], (events) =>
    JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: events.map(toRecord) }] }] }),
  ),
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
