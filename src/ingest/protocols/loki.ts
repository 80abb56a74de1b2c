import { createRequire } from 'node:module';
import { TailraceError } from '../../errors.ts';
import { isObject } from '../../lib/json.ts';
import {
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  type DecodedEvent,
  decodeJson,
  type Format,
  lazyEvents,
  PLAIN_KEY_CHARS_MAX,
  parseBody,
  toWireEvent,
  type WireEvent,
  type WireEvents,
} from '../body-format.ts';
import { createMessages, readMessage } from '../protobuf.ts';
import { parseLabels } from './loki-labels.ts';
import { bodyOf, findBasicKey, type Protocol } from './protocol.ts';

const load = createRequire(import.meta.url);
const TEXT = 'text/plain; charset=utf-8';
const REASONS_SHOWN = 10;

export const loki: Protocol = {
  projectHeader: 'x-scope-orgid',
  findKey: findBasicKey,
  events: {
    places: ['POST /loki/api/v1/push'],
    summary: 'Loki’s push API',
    id: 'send_loki',
    bodies: [
      bodyOf('application/json', 'loki-json'),
      { ...bodyOf('application/x-protobuf', 'loki-protobuf'), ownEncoding: 'snappy' },
    ],
    respond({ rejected, reasons }) {
      if (rejected === 0) return { status: 204 };
      const shown = reasons.slice(0, REASONS_SHOWN);
      const more = rejected > shown.length ? [`and ${rejected - shown.length} more`] : [];
      return { status: 400, type: TEXT, body: [...shown, ...more].join('; ') };
    },
  },
  // Senders log the text, and send again what failed with 429 or 5xx.
  reject: ({ status, message }) => ({ status, type: TEXT, body: message }),
};

// A block of Snappy up to this size is decompressed to count its marks; a larger one is decoded on the thread.
const COUNTED_BYTES_MAX = 64 * 1024;

// The tags of all fields with a length: every stream, entry and label begins with one.
const countTags = createMarkCounter('\x0a\x12\x1a');

export const LOKI_FORMATS = {
  'loki-json': {
    cut: (bytes, options) => cutStreams(readJson(decodeJson(bytes)), readEntry, options),
    countMarks: countJsonMarks,
  },
  'loki-protobuf': {
    isBinary: true,
    cut: (bytes, options) => cutProtobuf(decompressSnappy(bytes, options.decodedBytesMax), options),
    countMarks: (bytes) => {
      if ((readLength(bytes) ?? 0) > COUNTED_BYTES_MAX) return Infinity;
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

/** A stream, whose entries have to be read yet. */
interface Stream<T> {
  /** `undefined`: not well-formed. */
  readonly labels: Labels | undefined;
  readonly entries: readonly T[];
}

interface Entry {
  /** Nanoseconds since 1970; the event rules reject what is not a time. */
  readonly time: string;
  readonly line: string;
  readonly metadata: Labels;
}

/** Reads an entry when it is its turn; `undefined`: it is not one. */
type ReadEntry<T> = (entry: T) => Entry | undefined;

function cutStreams<T>(streams: readonly Stream<T>[], read: ReadEntry<T>, options: CutOptions): WireEvents {
  const count = streams.reduce((sum, { entries }) => sum + entries.length, 0);
  return lazyEvents(count, pushEvents(streams, read), options);
}

function* pushEvents<T>(streams: readonly Stream<T>[], read: ReadEntry<T>): Generator<WireEvent> {
  for (const { labels, entries } of streams) {
    const shared = share(labels ?? {});
    for (const one of entries) {
      const entry = read(one);
      if (labels === undefined) yield { rejected: 'has labels that are not as {app="gateway"}' };
      else if (entry === undefined) yield { rejected: WRONG_ENTRY, labels };
      else yield { ...toEvent(entry, shared), labels };
    }
  }
}

const WRONG_ENTRY =
  'is not ["<nanoseconds>", "<line>"], with an optional map of texts as structured metadata';

/** What the entries of a stream have in common. */
const share = (labels: Labels) => ({ labels, isPlain: areShort(labels), json: membersOf(labels) });

const membersOf = (labels: Labels) => JSON.stringify(labels).slice(1, -1);

/** If names are equal, the last counts, which is that of the structured metadata. */
function toEvent({ time, line, metadata }: Entry, { labels, json, isPlain }: ReturnType<typeof share>) {
  const own = membersOf(metadata);
  const between = own !== '' && json !== '' ? ',' : '';
  const decoded: DecodedEvent = {
    members: [
      ['timestamp', JSON.stringify(time)],
      ['event_message', JSON.stringify(line)],
      ['metadata', `{${json}${between}${own}}`],
    ],
    find(path) {
      const name = path[1] ?? '';
      return path.length > 2 ? undefined : (labelOf(metadata, name) ?? labelOf(labels, name));
    },
  };
  return toWireEvent(decoded, isPlain && areShort(metadata) && !haveCommon(metadata, labels));
}

const haveCommon = (one: Labels, other: Labels) =>
  Object.keys(one).some((name) => Object.hasOwn(other, name));

const areShort = (labels: Labels) => Object.keys(labels).every((name) => name.length <= PLAIN_KEY_CHARS_MAX);

const labelOf = (labels: Labels, name: string) => (Object.hasOwn(labels, name) ? labels[name] : undefined);

function readJson(text: string): Stream<unknown>[] {
  const body = parseBody(text);
  const streams = isObject(body) ? body['streams'] : undefined;
  if (!Array.isArray(streams)) throw wrongShape('it needs "streams", a list');
  return streams.map((one: unknown) => {
    const { stream, values } = isObject(one) ? one : {};
    const labels = readMap(stream);
    if (labels === undefined || !Array.isArray(values))
      throw wrongShape('each of "streams" needs "stream", a map of texts, and "values", a list');
    return { labels, entries: values };
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

// By the field numbers of the protocol (logproto). Entries stay bytes until each is read, so that one can be freed
// before the next.
const typeOf = createMessages({
  PushRequest: { streams: [1, 'repeated Stream'] },
  Stream: { labels: [1, 'string'], entries: [2, 'repeated bytes'] },
  Entry: {
    timestamp: [1, 'Timestamp'],
    line: [2, 'string'],
    structuredMetadata: [3, 'map string'], // pairs of texts, as protobuf writes a map
  },
  Timestamp: { seconds: [1, 'int64'], nanos: [2, 'int32'] },
});

interface PushRequest {
  readonly streams: readonly { readonly labels?: string; readonly entries: readonly Uint8Array[] }[];
}

interface EntryMessage {
  readonly timestamp?: { readonly seconds?: unknown; readonly nanos?: number };
  readonly line?: string;
  readonly structuredMetadata?: Readonly<Record<string, string>>;
}

function cutProtobuf(bytes: Buffer, options: CutOptions): WireEvents {
  const { streams } = readMessage(typeOf('PushRequest'), bytes) as PushRequest; // of these fields
  const read = streams.map(({ labels = '', entries }) => ({ labels: parseLabels(labels), entries }));
  return cutStreams(read, decodeEntry, options);
}

function decodeEntry(bytes: Uint8Array): Entry {
  const message = readMessage(typeOf('Entry'), bytes) as EntryMessage; // of these fields
  const { timestamp, line = '', structuredMetadata: metadata = {} } = message;
  return { time: nanoseconds(timestamp), line, metadata };
}

/** Padded to 18 digits: by fewer the event rules would read another unit. */
function nanoseconds({ seconds = 0, nanos = 0 }: { seconds?: unknown; nanos?: number } = {}) {
  return `${Number(seconds)}${String(nanos).padStart(9, '0')}`.padStart(18, '0');
}

// Three bytes become at most 64.
const GROWTH_MAX = 22;

/** The head of a block says how many bytes it becomes, for which memory is taken before a byte is read. */
function decompressSnappy(bytes: Uint8Array, bytesMax = Number.POSITIVE_INFINITY): Buffer {
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
