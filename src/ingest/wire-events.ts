import { isUtf8 } from 'node:buffer';
import { TailraceError } from '../errors.ts';
import { findJsonFault } from '../lib/json/fault.ts';
import { cutElements, cutMembers } from './json-text.ts';
import { isBlank, NEWLINE } from './lines.ts';
import { eventTexts } from './otlp/events.ts';
import { decodeRequest } from './otlp/schema.ts';
import { decodeText, findOtherEncoding, REPLACEMENT } from './utf8.ts';

/** How the bytes of a request body are decoded. */
export type BodyFormat = 'json' | 'ndjson' | 'otlp-json' | 'otlp-protobuf';

/** One event as received: its exact text, with its value if the text has been parsed; or a line that has not. */
export type WireEvent = ({ readonly text: string; readonly value?: unknown } | { readonly line: Buffer }) & {
  /** Whether U+FFFD stands for bytes of it that are not UTF-8. */
  readonly isRepaired?: boolean;
};

export interface WireEvents {
  readonly events: readonly WireEvent[];
  /** Members of a body that is an object; one of them may name the source. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const CUTTERS: Readonly<Record<BodyFormat, (bytes: Buffer) => WireEvents>> = {
  json: (bytes) => markRepaired(bytes, cutJson),
  ndjson: cutLines,
  'otlp-json': (bytes) => markRepaired(bytes, (text) => cutOtlp(parse(text), 'hex')),
  'otlp-protobuf': (bytes) => cutOtlp(readProtobuf(bytes), 'base64'),
};

/**
 * Cuts a request body into events, each as its exact text.
 *
 * @throws TailraceError `invalid_request` if the bytes are not of that format, `body_too_large` for too many events or values
 */
export function cutEvents(bytes: Buffer, format: BodyFormat): WireEvents {
  return CUTTERS[format](bytes);
}

const JSON_MARKS = createMarks('{[,');
const MARKS: Readonly<Record<BodyFormat, Uint8Array>> = {
  json: JSON_MARKS,
  'otlp-json': JSON_MARKS,
  ndjson: createMarks('{[,\n'),
  // The tag of a string or message in one of the first seven fields: every record, attribute and value begins with one.
  'otlp-protobuf': createMarks('\x0a\x12\x1a\x22\x2a\x32\x3a'),
};

/**
 * Estimates from above how many values a body holds, by counting the bytes that begin one. The size of a body says less:
 * 64 KiB of `{},` are 21,000 events and take fifty times as long to decode as a usual body of that size.
 */
export function countMarks(bytes: Uint8Array, format: BodyFormat): number {
  const marks = MARKS[format];
  let count = 0;
  for (const byte of bytes) count += marks[byte] ?? 0;
  return count;
}

/** Creates a table with 1 at each of these bytes. */
function createMarks(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) table[byte] = 1;
  return table;
}

// Fifty times the values of a usual body of the largest size. Tiny values need many times their size in memory, and seconds to parse.
const VALUES_MAX = 8_000_000;

/** Cuts a body of JSON. If some of its bytes are not UTF-8, the events with U+FFFD are marked: one bad byte loses no other event. */
function markRepaired(bytes: Buffer, cut: (text: string) => WireEvents): WireEvents {
  if (countMarks(bytes, 'json') >= VALUES_MAX)
    throw new TailraceError(
      'body_too_large',
      `the body has more than ${VALUES_MAX} values; send less at once`,
    );
  refuseOtherEncoding(bytes);
  const { text, isRepaired } = decodeText(bytes);
  const { events, fields } = cut(text);
  if (!isRepaired) return { events, fields };
  const mark = (event: WireEvent) =>
    'text' in event ? { ...event, isRepaired: event.text.includes(REPLACEMENT) } : event;
  return { events: events.map(mark), fields };
}

const HINTS = {
  gzip: 'is gzip; name it in Content-Encoding',
  'UTF-16': 'is UTF-16; send UTF-8',
};

function refuseOtherEncoding(bytes: Buffer): void {
  const other = findOtherEncoding(bytes);
  if (other !== undefined) throw new TailraceError('invalid_request', `the body ${HINTS[other]}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformedJson(text, cause);
  }
}

// In a longer text, finding the place would block the event loop for too long.
const PLACED_CHARS_MAX = 256 * 1024;

/** Returns the error of a body that `JSON.parse` has rejected, with the place of the fault. */
export function malformedJson(text: string, cause: unknown): TailraceError {
  const place = text.length > PLACED_CHARS_MAX ? undefined : findJsonFault(text);
  if (place === undefined) return malformed('JSON', cause);
  const { line, column } = place;
  const message = `is not valid JSON from line ${line}, column ${column} on`;
  return new TailraceError('invalid_request', `the body ${message}`, {
    cause,
    errors: [{ parameter: 'body', message, ...place }],
  });
}

function readProtobuf(bytes: Buffer): unknown {
  try {
    return decodeRequest(bytes);
  } catch (cause) {
    throw malformed('protobuf', cause);
  }
}

function malformed(format: string, cause: unknown): TailraceError {
  const message = `the body is not valid ${format}; it may have been cut short`;
  return new TailraceError('invalid_request', message, { cause });
}

/** Cuts a JSON body: an array of events, `{"batch": […]}`, or one event. */
function cutJson(text: string): WireEvents {
  const body = parse(text);
  if (Array.isArray(body)) return { events: zip(text, body), fields: {} };
  if (typeof body !== 'object' || body === null) {
    const message = 'the body must be an array of events, {"batch": […]} or one event';
    throw new TailraceError('invalid_request', message);
  }
  const fields = body as Record<string, unknown>; // an object that JSON.parse created
  const batch = Object.hasOwn(fields, 'batch') ? fields['batch'] : undefined;
  if (!Array.isArray(batch)) return { events: [{ text, value: body }], fields };
  // The last of two members with one name counts, as in JSON.parse.
  const member = cutMembers(text).findLast(({ name }) => name === 'batch');
  return { events: zip(member?.text ?? '[]', batch), fields };
}

function zip(listText: string, values: readonly unknown[]): WireEvent[] {
  refuseTooMany(values.length); // before the text of each is cut
  return cutElements(listText).map((text, i) => ({ text, value: values[i] }));
}

/**
 * Cuts an NDJSON body, one event a line; empty lines are skipped, and a bad line spoils only that event. Lines stay bytes
 * until each is parsed: all of their text at once would burden the garbage collector.
 */
function cutLines(bytes: Buffer): WireEvents {
  refuseOtherEncoding(bytes);
  const isWhole = isUtf8(bytes);
  const events: WireEvent[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) events.push(isWhole || isUtf8(line) ? { line } : { line, isRepaired: true });
    start = end + 1;
  }
  refuseTooMany(events.length);
  return { events, fields: {} };
}

function cutOtlp(request: unknown, idEncoding: 'hex' | 'base64'): WireEvents {
  const events: WireEvent[] = [];
  for (const text of eventTexts(request, idEncoding)) {
    events.push({ text });
    refuseTooMany(events.length);
  }
  return { events, fields: {} };
}

const EVENTS_MAX = 50_000;

/** Rejects too many events: a body of tiny events would keep the service busy for longer than its size suggests. */
function refuseTooMany(count: number): void {
  if (count <= EVENTS_MAX) return;
  const message = `the body has ${count} events; send at most ${EVENTS_MAX} at once`;
  throw new TailraceError('body_too_large', message);
}
