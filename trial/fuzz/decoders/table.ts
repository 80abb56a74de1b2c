import type { BodyFormat } from '../../../src/ingest/wire-events.ts';
import * as bodies from './bodies.ts';

/** A decoder of bodies over HTTP, as its senders reach it. */
export interface HttpDecoder {
  readonly path: string;
  readonly type: string;
  readonly format: BodyFormat;
  readonly make: bodies.MakeBody;
  /** Status of a response to events that are stored. */
  readonly ok: number;
  /** Whether the body of such a response is one that its senders understand. @throws SyntaxError if it is not JSON */
  readonly isAnswer: (body: string) => boolean;
  /** Whether the format has its own compression, so that a header Content-Encoding would be wrong. */
  readonly isPacked?: boolean;
}

const json = 'application/json';
const isEmpty = (body: string) => body === '';
const isNothing = (body: string) => body === '{}';
const isSuccess = (body: string) => body === '{"text":"Success","code":0}';

/** Every item has one action with its status, and `errors` says whether one of them failed. */
function isBulkAnswer(body: string): boolean {
  const { errors, items } = JSON.parse(body) as {
    errors: unknown;
    items: Record<string, { status: number }>[];
  };
  const statuses = items.map((item) => Object.values(item).map(({ status }) => status));
  const isKnown = statuses.every(
    ([status, ...more]) => more.length === 0 && (status === 201 || status === 400),
  );
  return isKnown && errors === statuses.some(([status]) => status === 400);
}

function isFirehoseAnswer(body: string): boolean {
  const { timestamp, errorMessage } = JSON.parse(body) as { timestamp: unknown; errorMessage?: unknown };
  return typeof timestamp === 'number' && (errorMessage === undefined || typeof errorMessage === 'string');
}

function isOtlpAnswer(body: string): boolean {
  const { partialSuccess } = JSON.parse(body) as {
    partialSuccess?: { rejectedLogRecords: unknown; errorMessage: unknown };
  };
  if (partialSuccess === undefined) return body === '{}';
  const { rejectedLogRecords: count, errorMessage } = partialSuccess;
  return typeof count === 'string' && Number(count) > 0 && typeof errorMessage === 'string';
}

/** Every decoder of events that is reached over HTTP; a new one is an entry. */
export const HTTP_DECODERS: Readonly<Record<string, HttpDecoder>> = {
  'loki-json': {
    path: '/loki/api/v1/push',
    type: json,
    format: 'loki-json',
    make: bodies.lokiJson,
    ok: 204,
    isAnswer: isEmpty,
  },
  'loki-protobuf': {
    path: '/loki/api/v1/push',
    type: 'application/x-protobuf',
    format: 'loki-protobuf',
    make: bodies.lokiProtobuf,
    ok: 204,
    isAnswer: isEmpty,
    isPacked: true,
  },
  'elasticsearch-bulk': {
    path: '/_bulk',
    type: 'application/x-ndjson',
    format: 'elasticsearch-bulk',
    make: bodies.bulk,
    ok: 200,
    isAnswer: isBulkAnswer,
  },
  'splunk-events': {
    path: '/services/collector/event',
    type: json,
    format: 'splunk-events',
    make: bodies.joinedEvents,
    ok: 200,
    isAnswer: isSuccess,
  },
  'splunk-raw': {
    path: '/services/collector/raw?host=h&sourcetype=%00',
    type: 'text/plain',
    format: 'splunk-lines',
    make: bodies.textLines,
    ok: 200,
    isAnswer: isSuccess,
  },
  'datadog-json': {
    path: '/api/v2/logs',
    type: json,
    format: 'datadog-json',
    make: bodies.jsonEvents,
    ok: 202,
    isAnswer: isNothing,
  },
  'datadog-text': {
    path: '/api/v2/logs?ddtags=a:b,,c&service=x',
    type: 'text/plain',
    format: 'datadog-lines',
    make: bodies.textLines,
    ok: 202,
    isAnswer: isNothing,
  },
  'vercel-json': {
    path: '/drains/vercel',
    type: json,
    format: 'vercel-json',
    make: bodies.jsonEvents,
    ok: 200,
    isAnswer: isNothing,
  },
  'vercel-lines': {
    path: '/drains/vercel',
    type: 'application/x-ndjson',
    format: 'vercel-lines',
    make: bodies.jsonLines,
    ok: 200,
    isAnswer: isNothing,
  },
  logpush: {
    path: '/drains/logpush',
    type: 'text/plain',
    format: 'logpush',
    make: bodies.jsonLines,
    ok: 200,
    isAnswer: isNothing,
  },
  firehose: {
    path: '/drains/firehose',
    type: json,
    format: 'firehose',
    make: bodies.firehose,
    ok: 200,
    isAnswer: isFirehoseAnswer,
  },
  heroku: {
    path: '/drains/heroku',
    type: 'application/logplex-1',
    format: 'heroku',
    make: bodies.frames,
    ok: 204,
    isAnswer: isEmpty,
  },
  'otlp-json': {
    path: '/v1/logs',
    type: json,
    format: 'otlp-json',
    make: bodies.otlpJson,
    ok: 200,
    isAnswer: isOtlpAnswer,
  },
  'otlp-protobuf': {
    path: '/v1/logs',
    type: 'application/x-protobuf',
    format: 'otlp-protobuf',
    make: bodies.otlpProtobuf,
    // An ExportLogsServiceResponse: empty, or with its first field.
    ok: 200,
    isAnswer: (body) => body === '' || body.startsWith('\n'),
  },
};
