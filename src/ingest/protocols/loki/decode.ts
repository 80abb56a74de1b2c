import { TailraceError } from '../../../errors.ts';
import {
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  type Format,
  malformed,
  type WireEvent,
} from '../../body-format.ts';
import type { DocumentShape } from '../../document/plan.ts';
import type { SharedMembers } from '../../document/read.ts';
import { decodeJsonBody, readJson } from '../../json/body.ts';
import type { Span } from '../../json/cursor.ts';
import { OPEN_BRACE } from '../../json/grammar.ts';
import { collectEvents, readShared } from '../event-text.ts';
import { decompressSnappy, readLength } from '../snappy.ts';
import { parseLabels } from './labels.ts';
import { readPush } from './push-json.ts';
import { decodePushRequest, type PushRequest } from './push-request.ts';

// A block of Snappy up to this size is decompressed to count its marks; a larger one is decoded on the thread.
const COUNTED_BYTES_MAX = 64 * 1024;

// The tags of all fields with a length: every stream, entry and label begins with one.
const countTags = createMarkCounter('\x0a\x12\x1a');

export const LOKI_FORMATS = {
  'loki-json': {
    cut(received, options) {
      const { bytes, mark } = decodeJsonBody(received);
      return mark(readJson(bytes, () => collectEvents(jsonEvents(bytes), options)));
    },
    countMarks: countJsonMarks,
  },
  'loki-protobuf': {
    isBinary: true,
    cut: (bytes, options) => collectEvents(protobufEvents(readProtobuf(bytes, options)), options),
    countMarks: (bytes) => {
      const length = readLength(bytes) ?? 0;
      if (length > COUNTED_BYTES_MAX) return Number.POSITIVE_INFINITY;
      try {
        return countTags(decompressSnappy(bytes, COUNTED_BYTES_MAX));
      } catch {
        return 0; // `cut` fails at once
      }
    },
  },
} as const satisfies Readonly<Record<string, Format>>;

const SHAPE: DocumentShape = { timestamp: [], message: [] };
const EMPTY = Buffer.from('{}');

function* jsonEvents(bytes: Buffer): Generator<WireEvent> {
  for (const { labels, entries } of readPush(bytes, wrongShape)) {
    const shared = readLabels(labels);
    for (const entry of entries) yield jsonEvent(bytes, entry, shared);
  }
}

/** @throws NOT_JSON */
function readLabels(text: string): SharedMembers | undefined {
  return text === '{}' ? undefined : readShared(text);
}

function jsonEvent(bytes: Buffer, entry: readonly Span[] = [], shared: SharedMembers | undefined): WireEvent {
  const textOf = (span: Span | undefined) => span && bytes.toString('utf8', span.start, span.end);
  const [time, line, more] = entry;
  const [timestamp, message] = [textOf(time), textOf(line)];
  const first = more === undefined ? OPEN_BRACE : bytes[more.start];
  const isMap = first === OPEN_BRACE || textOf(more) === 'null';
  if (timestamp === undefined || !/^["\d-]/.test(timestamp) || message?.startsWith('"') !== true || !isMap)
    return {
      refused: 'is not ["<nanoseconds>", "<line>"], with an optional map of structured metadata',
      labels: shared?.values ?? {},
    };
  return toEvent({
    ...{ timestamp, message, shared },
    more: more === undefined || first !== OPEN_BRACE ? EMPTY : bytes.subarray(more.start, more.end),
  });
}

function* protobufEvents({ streams }: PushRequest): Generator<WireEvent> {
  for (const { labels: text, entries } of streams) {
    const labels = parseLabels(text);
    const shared = readLabels(JSON.stringify(labels ?? {}));
    for (const { timestamp, line, structuredMetadata } of entries) {
      if (labels === undefined) yield { refused: 'has labels that are not as {app="gateway"}' };
      else {
        const pairs = structuredMetadata.map(({ name, value }) => [name, value] as const);
        yield toEvent({
          timestamp: JSON.stringify(nanoseconds(timestamp)),
          ...{ message: JSON.stringify(line), shared },
          more: pairs.length === 0 ? EMPTY : Buffer.from(JSON.stringify(Object.fromEntries(pairs))),
        });
      }
    }
  }
}

/** Padded to 18 digits, so that the event rules read nanoseconds; they reject what is not a number. */
function nanoseconds(timestamp: PushRequest['streams'][number]['entries'][number]['timestamp']): string {
  const { seconds = 0, nanos = 0 } = timestamp ?? {};
  return `${Number(seconds)}${String(nanos).padStart(9, '0')}`.padStart(18, '0');
}

interface Entry {
  /** JSON texts. */
  readonly timestamp: string;
  readonly message: string;
  readonly shared: SharedMembers | undefined;
  /** Structured metadata, which comes before a label of the same name. */
  readonly more: Buffer;
}

function toEvent({ timestamp, message, shared, more }: Entry): WireEvent {
  return { line: more, document: { shape: SHAPE, defaults: { timestamp, message }, shared } };
}

function readProtobuf(bytes: Buffer, { decodedBytesMax }: CutOptions): PushRequest {
  const decompressed = decompressSnappy(bytes, decodedBytesMax);
  try {
    return decodePushRequest(decompressed);
  } catch (cause) {
    throw malformed('protobuf', cause);
  }
}

function wrongShape(what: string): TailraceError {
  return new TailraceError('invalid_request', `the body is not a push request of Loki: ${what}`);
}
