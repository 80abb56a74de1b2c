import { TailraceError } from '../errors.ts';
import { findJsonFault } from './json/scan.ts';

/** The name of a form of bodies; wire-events.ts says how each is read. */
export type BodyFormat =
  | 'json'
  | 'ndjson'
  | 'otlp-json'
  | 'otlp-protobuf'
  | 'loki-json'
  | 'loki-protobuf'
  | 'elasticsearch-bulk';

/** A body that a path for events reads. */
export interface EventBody {
  /** Matched against the whole header Content-Type; empty if it is missing. */
  readonly type: RegExp;
  readonly format: BodyFormat;
  /** A Content-Encoding that is part of the format. */
  readonly ownEncoding?: string;
}

/** An object or array within an event. */
export interface NestedValue {
  readonly json: string;
}

/** An event that its protocol has decoded, so that nobody has to read its text. */
export interface DecodedEvent {
  /** Each name once, with the JSON text of its value; the metadata is an object. */
  readonly members: readonly (readonly [name: string, json: string])[];
  /**
   * Finds the value at a path that begins with `metadata`: a scalar, null, NestedValue or `undefined`. Called for each path
   * of the source: it must not copy the path.
   */
  find(path: readonly string[]): unknown;
}

/** One event as received: its exact text, or the bytes of it; or why there is none. */
export type WireEvent = (
  | { readonly text: string; readonly decoded?: DecodedEvent | undefined }
  | {
      readonly line: Buffer;
      /** Its id, if its members are metadata, as in Elasticsearch; see `readDocument`. */
      readonly documentId?: string;
    }
  | { readonly rejected: string }
) & {
  /** What `accepts` of the sources' files is compared with, such as Loki's labels. */
  readonly labels?: Readonly<Record<string, unknown>>;
  /** What the response says about it, for protocols that respond to each event. */
  readonly echo?: string;
};

// Far below the limit of events, which read-event.ts has.
export const PLAIN_KEY_CHARS_MAX = 400;

/** @param isPlain whether no names are equal, too long or nested too deep: otherwise its text has to be read */
export function toWireEvent(decoded: DecodedEvent, isPlain: boolean) {
  const members = decoded.members.reduce(
    (text, [name, json]) => `${text}${text === '' ? '' : ','}"${name}":${json}`,
    '',
  );
  return { text: `{${members}}`, decoded: isPlain ? decoded : undefined };
}

export interface WireEvents {
  /** Once: some formats decode an event when it is its turn, so that it can be freed before the next. */
  readonly events: Iterable<WireEvent>;
  readonly count: number;
  /** Members of a body that is an object; one of them may name the source. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface CutOptions {
  /** The index that the path of the request names. */
  readonly index?: string | undefined;
  /** Longest body after decompression, for formats that are compressed by themselves. */
  readonly decodedBytesMax?: number | undefined;
  /** Most characters of all events together; those of the largest body by default. */
  readonly charsMax?: number | undefined;
}

/** How the bytes of a request body are decoded. */
export interface Format {
  /** Whether the bytes are no text, so that their first may look like a byte order mark. */
  readonly isBinary?: true;
  /** Cuts a body into events. @throws TailraceError, also while events are taken: `invalid_request`, `body_too_large` */
  cut(bytes: Buffer, options: CutOptions): WireEvents;
  /** Estimates from above how many values a body holds: 64 KiB of `{},` take fifty times as long as a usual body. */
  countMarks(bytes: Uint8Array): number;
}

/** Counts the bytes that begin a value: these characters. */
export function createMarkCounter(characters: string): (bytes: Uint8Array) => number {
  const marks = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) marks[byte] = 1;
  return (bytes) => {
    let count = 0;
    for (const byte of bytes) count += marks[byte] ?? 0;
    return count;
  };
}

export const countJsonMarks = createMarkCounter('{[,');

// Fifty times the values of a usual body of the largest size. Tiny values need many times their size in memory, and
// seconds to parse.
const VALUES_MAX = 8_000_000;

/** Decodes a body of JSON, with U+FFFD for bytes that are not UTF-8. @throws TailraceError as `rejectUnreadable` */
export function decodeJson(bytes: Buffer): string {
  rejectUnreadable(bytes);
  return bytes.toString();
}

/** @throws TailraceError `body_too_large`, `invalid_request` if the bytes cannot be read at all */
export function rejectUnreadable(bytes: Buffer): void {
  if (bytes.length >= VALUES_MAX && countJsonMarks(bytes) >= VALUES_MAX) {
    const message = `the body has more than ${VALUES_MAX} values; send less at once`;
    throw new TailraceError('body_too_large', message);
  }
  rejectOtherEncoding(bytes);
}

function rejectOtherEncoding(bytes: Buffer): void {
  const other = findOtherEncoding(bytes);
  if (other === undefined) return;
  const hint = other === 'gzip' ? 'name it in Content-Encoding' : 'send UTF-8';
  throw new TailraceError('invalid_request', `the body is ${other}; ${hint}`);
}

export interface BodyLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** Cuts a body into lines; empty ones are skipped. @throws TailraceError `invalid_request` if the bytes are not text */
export function* linesOf(bytes: Buffer): Generator<BodyLine, undefined> {
  rejectOtherEncoding(bytes);
  let number = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    number++;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) yield { number, bytes: line };
    start = end + 1;
  }
}

/** @param sent the text as it was sent, in which a fault is placed */
export function parseBody(text: string, sent = text): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformedJson(sent, cause);
  }
}

// In a longer text, finding the place would block the event loop for too long.
const PLACED_CHARS_MAX = 256 * 1024;

/** Returns the error of a body that `JSON.parse` has rejected, with the place of the fault. */
export function malformedJson(text: string, cause: unknown): TailraceError {
  const bytes = text.length > PLACED_CHARS_MAX ? undefined : Buffer.from(text);
  const at = bytes && findJsonFault(bytes); // `JSON.parse` names the place of only some, and in words that differ by version
  if (at === undefined) return malformed('JSON', cause);
  const before = bytes?.toString('utf8', 0, at) ?? '';
  const position = before.length;
  const lines = before.split('\n');
  // Older versions of Fluent Bit send objects, one after the other, as `application/json`.
  const isNext = text[position] === '{' && before.trimEnd().endsWith('}');
  const hint = isNext ? '; send a list, or one object a line with Content-Type: application/x-ndjson' : '';
  const place = { position, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  const message = `is not valid JSON at line ${place.line}, column ${place.column}${hint}`;
  return new TailraceError('invalid_request', `the body ${message}`, {
    cause,
    errors: [{ parameter: 'body', message, ...place }],
  });
}

/** Returns the error of a body that a decoder has rejected. */
export function malformed(format: string, cause: unknown): TailraceError {
  const message = `the body is not valid ${format}; it may have been cut short`;
  return new TailraceError('invalid_request', message, { cause });
}

const EVENTS_MAX = 50_000;

/** Rejects too many events: a body of tiny events would keep the service busy for longer than its size suggests. */
export function rejectTooMany(count: number): void {
  if (count <= EVENTS_MAX) return;
  const message = `the body has ${count} events; send at most ${EVENTS_MAX} at once`;
  throw new TailraceError('body_too_large', message);
}

// Characters of all events of a body, and of what the response says about each: each repeats what several share, so a
// small body can become very large.
const EVENTS_CHARS_MAX = 64 * 1024 * 1024;

/** Returns events that are decoded in turn, within the bounds of one body. @throws TailraceError `body_too_large` */
export function lazyEvents(count: number, events: Iterable<WireEvent>, options: CutOptions): WireEvents {
  rejectTooMany(count);
  return { events: boundEvents(events, options), count };
}

/** Passes events on within the bounds of one body. @throws TailraceError `body_too_large` */
export function* boundEvents(
  events: Iterable<WireEvent>,
  { charsMax = EVENTS_CHARS_MAX }: Pick<CutOptions, 'charsMax'>,
): Generator<WireEvent> {
  const max = Math.min(charsMax, EVENTS_CHARS_MAX);
  let [chars, count] = [0, 0];
  for (const event of events) {
    const { length } = 'rejected' in event ? '' : 'text' in event ? event.text : event.line;
    chars += length + (event.echo?.length ?? 0);
    if (chars > max) {
      const message = `the events come to more than ${max} characters, each with what several share; send less at once`;
      throw new TailraceError('body_too_large', message);
    }
    rejectTooMany(++count);
    yield event;
  }
}

export const NEWLINE = 0x0a;

/** Whether a line is skipped. The same rule everywhere: `tailrace load --url` counts lines to say which were rejected. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** Returns UTF-8 without the byte order mark that some programs write before it, Windows' above all (RFC 8259, 8.1). */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Names, by their first bytes, bytes that cannot be read at all; `undefined` for text, even with some bad bytes. */
export function findOtherEncoding(bytes: Buffer): 'gzip' | 'UTF-16' | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return mark === 0xfffe || mark === 0xfeff ? 'UTF-16' : undefined;
}
