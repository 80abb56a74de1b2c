import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { TailraceError } from '../../errors.ts';
import { isObject } from '../../lib/json.ts';
import {
  type CutOptions,
  collectEvents,
  countJsonMarks,
  createMarkCounter,
  type Format,
  malformed,
  markRepaired,
  parseBody,
  REPLACEMENT,
  type WireEvent,
} from '../body-format.ts';
import { createMessages } from '../otlp/check.ts';
import { parseLabels } from './loki-labels.ts';
import { findBasicKey, type Protocol } from './protocol.ts';

const load = createRequire(import.meta.url);
const TEXT = 'text/plain; charset=utf-8';
const REASONS_SHOWN = 10;

/** Loki's push API. */
export const loki: Protocol = {
  docs: {
    title: 'Loki',
    tested: 'pino-loki, winston-loki',
    key: 'password of `Authorization: Basic`',
    timestamp: 'time of the entry',
    message: 'line',
    project: 'label `project`, else the header `X-Scope-OrgID`',
    metadata: 'labels and structured metadata',
    labels: 'any label',
    answers: '204; 400 if some are rejected',
  },
  projectHeader: 'x-scope-orgid',
  findKey: findBasicKey,
  events: {
    method: 'POST',
    path: '/loki/api/v1/push',
    summary: 'Loki’s push API',
    id: 'send_loki',
    bodies: [
      { type: /^application\/json *(?:;|$)/i, shown: 'application/json', format: 'loki-json' },
      {
        type: /^application\/x-protobuf *(?:;|$)/i,
        shown: 'application/x-protobuf',
        format: 'loki-protobuf',
        ownEncoding: 'snappy',
      },
    ],
    respond({ rejected, reasons }) {
      if (rejected === 0) return { status: 204 };
      const shown = reasons.slice(0, REASONS_SHOWN);
      const more = rejected > shown.length ? [`and ${rejected - shown.length} more`] : [];
      return { status: 400, type: TEXT, body: [...shown, ...more].join('; ') };
    },
  },
  info: [],
  // Senders log the text, and send again what failed with 429 or 5xx.
  reject: ({ status, message }) => ({ status, type: TEXT, body: message }),
};

// A block of Snappy up to this size is decompressed to count its marks; a larger one is decoded on the thread.
const COUNTED_BYTES_MAX = 64 * 1024;

// The tags of all fields with a length: every stream, entry and label begins with one.
const countTags = createMarkCounter('\x0a\x12\x1a');

export const LOKI_FORMATS = {
  'loki-json': {
    cut: (bytes, options) =>
      markRepaired(bytes, (text) => collectEvents(pushEvents(readJson(text)), options)),
    countMarks: countJsonMarks,
  },
  'loki-protobuf': {
    isBinary: true,
    cut: (bytes, options) => collectEvents(pushEvents(readProtobuf(bytes, options)), options),
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

/** Values of labels and of structured metadata are texts; senders that write others get them back as they are. */
type Labels = Readonly<Record<string, string | number | boolean | null>>;

interface Stream {
  /** `undefined`: not well-formed. */
  readonly labels: Labels | undefined;
  readonly entries: readonly (Entry | undefined)[];
  /** Bytes of its texts were not UTF-8. */
  readonly isRepaired?: boolean;
}

interface Entry {
  /** Nanoseconds since 1970; the event rules reject what is not a time. */
  readonly time: string;
  readonly line: string;
  readonly metadata: Labels;
}

function* pushEvents(streams: Iterable<Stream>): Generator<WireEvent> {
  for (const { labels, entries, isRepaired = false } of streams) {
    const shared = JSON.stringify(labels ?? {}).slice(1, -1);
    for (const entry of entries) {
      if (labels === undefined) yield { rejected: 'has labels that are not as {app="gateway"}' };
      else if (entry === undefined) yield { rejected: WRONG_ENTRY, labels };
      else {
        const text = eventText(entry, shared);
        yield { text, labels, ...(isRepaired && { isRepaired: text.includes(REPLACEMENT) }) };
      }
    }
  }
}

const WRONG_ENTRY =
  'is not ["<nanoseconds>", "<line>"], with an optional map of texts as structured metadata';

/** @param labels as members of JSON; of equal names the last counts, which is that of the structured metadata */
function eventText({ time, line, metadata }: Entry, labels: string): string {
  const own = JSON.stringify(metadata).slice(1, -1);
  const between = own !== '' && labels !== '' ? ',' : '';
  const [timestamp, message] = [JSON.stringify(time), JSON.stringify(line)];
  return `{"timestamp":${timestamp},"event_message":${message},"metadata":{${labels}${between}${own}}}`;
}

/** @throws TailraceError `invalid_request` if the body is not a push request */
function readJson(text: string): Stream[] {
  const body = parseBody(text);
  const streams = isObject(body) ? body['streams'] : undefined;
  if (!Array.isArray(streams)) throw wrongShape('it needs "streams", a list');
  return streams.map((one: unknown) => {
    const { stream, values } = isObject(one) ? one : {};
    const labels = readMap(stream);
    if (labels === undefined || !Array.isArray(values))
      throw wrongShape('each of "streams" needs "stream", a map of texts, and "values", a list');
    return { labels, entries: values.map(readEntry) };
  });
}

function readEntry(entry: unknown): Entry | undefined {
  const [time, line, more]: unknown[] = Array.isArray(entry) ? entry : [];
  const metadata = readMap(more);
  const isTime = typeof time === 'string' || typeof time === 'number';
  return isTime && typeof line === 'string' && metadata ? { time: String(time), line, metadata } : undefined;
}

function readMap(value: unknown): Labels | undefined {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return undefined;
  const isFlat = Object.values(value).every((one) => typeof one !== 'object' || one === null);
  return isFlat ? (value as Labels) : undefined; // just checked
}

function wrongShape(what: string): TailraceError {
  return new TailraceError('invalid_request', `the body is not a push request of Loki: ${what}`);
}

// By the field numbers of the protocol (logproto). Texts as bytes: one that is not UTF-8 must not spoil the others.
const typeOf = createMessages({
  PushRequest: { streams: [1, 'repeated Stream'] },
  Stream: { labels: [1, 'bytes'], entries: [2, 'repeated Entry'] },
  Entry: {
    timestamp: [1, 'Timestamp'],
    line: [2, 'bytes'],
    structuredMetadata: [3, 'repeated LabelPair'],
  },
  Timestamp: { seconds: [1, 'int64'], nanos: [2, 'int32'] },
  LabelPair: { name: [1, 'bytes'], value: [2, 'bytes'] },
});

/** A push request as its protobuf decodes. */
interface PushRequest {
  readonly streams: readonly {
    readonly labels: Uint8Array;
    readonly entries: readonly {
      readonly timestamp?: { readonly seconds?: unknown; readonly nanos?: number } | null;
      readonly line: Uint8Array;
      readonly structuredMetadata: readonly { readonly name: Uint8Array; readonly value: Uint8Array }[];
    }[];
  }[];
}

function readProtobuf(bytes: Buffer, { decodedBytesMax }: CutOptions): Stream[] {
  const decompressed = decompressSnappy(bytes, decodedBytesMax);
  try {
    const { streams } = typeOf('PushRequest').decode(decompressed) as unknown as PushRequest; // of these fields
    return streams.map(({ labels, entries }) => {
      let isRepaired = false;
      const read = (text: Uint8Array) => {
        if (text.length === 0) return ''; // an empty list, if it is not there
        isRepaired ||= !isUtf8(text);
        return Buffer.from(text.buffer, text.byteOffset, text.length).toString();
      };
      const stream = {
        labels: parseLabels(read(labels)),
        entries: entries.map(({ timestamp, line, structuredMetadata }) => ({
          time: nanoseconds(timestamp ?? {}),
          line: read(line),
          metadata: Object.fromEntries(
            structuredMetadata.map(({ name, value }) => [read(name), read(value)]),
          ),
        })),
      };
      return { ...stream, isRepaired };
    });
  } catch (cause) {
    throw malformed('protobuf', cause);
  }
}

/** Padded to 18 digits: by fewer the event rules would read another unit. */
function nanoseconds({ seconds = 0, nanos = 0 }: { readonly seconds?: unknown; readonly nanos?: number }) {
  return `${Number(seconds)}${String(nanos).padStart(9, '0')}`.padStart(18, '0');
}

// Three bytes become at most 64.
const GROWTH_MAX = 22;

/**
 * Decompresses a block of Snappy. Its head says how many bytes it becomes, for which memory is taken before a byte is read.
 *
 * @throws TailraceError `body_too_large` beyond `bytesMax`, `invalid_request` if the bytes are not Snappy, or of
 *   another length than they say
 */
function decompressSnappy(bytes: Uint8Array, bytesMax: number): Buffer {
  const invalid = 'the body is not a block of Snappy, or ends too soon';
  const length = readLength(bytes);
  if (length === undefined || length > bytes.length * GROWTH_MAX)
    throw new TailraceError('invalid_request', invalid);
  if (length > bytesMax)
    throw new TailraceError('body_too_large', `the body is larger than ${bytesMax} bytes when decompressed`);
  const { uncompressSync } = load('snappy') as typeof import('snappy'); // its own types; loaded only if it is used
  try {
    return uncompressSync(bytes, { asBuffer: true }) as Buffer; // of `asBuffer`
  } catch (cause) {
    throw new TailraceError('invalid_request', invalid, { cause });
  }
}

/** Returns how many bytes a block says that it becomes; `undefined` without a head. */
function readLength(bytes: Uint8Array): number | undefined {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  return undefined;
}
