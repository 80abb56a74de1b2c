import { isUtf8 } from 'node:buffer';
import { TailraceError } from '../errors.ts';
import {
  type BodyFormat,
  boundEvents,
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  decodeJson,
  type Format,
  linesOf,
  malformedJson,
  parseBody,
  type ReadOne,
  rejectTooMany,
  rejectUnreadable,
  type WireEvents,
  withoutMark,
} from './body-format.ts';
import { NOT_JSON, OPEN_BRACKET, planPaths } from './json/grammar.ts';
import { type JsonPlace, type JsonScan, scanJson } from './json/scan.ts';
import { checkRequest, readRecord, readRequest } from './otlp/check.ts';
import { countRecords, type LogRecord, type OtlpRequest, otlpEvents } from './otlp/events.ts';
import { ELASTICSEARCH_FORMATS } from './protocols/elasticsearch.ts';
import { LOKI_FORMATS } from './protocols/loki.ts';
import { NAMING_MEMBERS } from './source-name.ts';

const FORMATS: Readonly<Record<BodyFormat, Format>> = {
  json: { cut: cutJson, countMarks: countJsonMarks },
  ndjson: { cut: cutLines, countMarks: createMarkCounter('{[,\n') },
  'otlp-json': {
    cut(bytes, options) {
      const { text, isRepaired } = decodeJson(bytes);
      return cutOtlp(checkRequest(parseOtlp(text)), (message) => ({ message, isRepaired }), options);
    },
    countMarks: countJsonMarks,
  },
  'otlp-protobuf': {
    isBinary: true,
    cut: (bytes, options) => cutOtlp(readRequest(bytes), readRecord, options),
    // The tag of a string or message in one of the first seven fields: every record, attribute and value begins with one.
    countMarks: createMarkCounter('\x0a\x12\x1a\x22\x2a\x32\x3a'),
  },
  ...LOKI_FORMATS,
  ...ELASTICSEARCH_FORMATS,
};

/** Cuts a request body into events. @throws TailraceError as `Format.cut` */
export function cutEvents(bytes: Buffer, format: BodyFormat, options: CutOptions): WireEvents {
  const { cut, isBinary } = FORMATS[format];
  return cut(isBinary ? bytes : withoutMark(bytes), options);
}

/** See `Format.countMarks`. */
export function countMarks(bytes: Uint8Array, format: BodyFormat): number {
  return FORMATS[format].countMarks(bytes);
}

const LONG_INTEGER = /("int(?:V|_v)alue"\s*:\s*)(-?\d{16,19})(?=\s*[,}])/g;

/** Parses OTLP's JSON. An integer that a double cannot hold becomes the text that OTLP asks for. */
function parseOtlp(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(LONG_INTEGER, '$1"$2"'));
  } catch (cause) {
    throw malformedJson(text, cause);
  }
}

/** Cuts a JSON body: an array of events, `{"batch": […]}`, or one event. */
function cutJson(bytes: Buffer): WireEvents {
  rejectUnreadable(bytes);
  const body = scanBody(bytes);
  if (body.kind === 'array') return listOf(bytes, cutElements(bytes, body));
  if (body.kind === 'scalar') {
    const message = 'the body must be an array of events, {"batch": […]} or one event';
    throw new TailraceError('invalid_request', message);
  }
  const [batch, ...names] = [...BODY.slots.values()].map((slot) => body.values[slot]);
  const fields = Object.fromEntries(NAMING_MEMBERS.map((name, i) => [name, names[i]]));
  const place = typeof batch === 'object' && batch !== null ? (batch as JsonPlace) : undefined; // as scans return them
  if (place === undefined || bytes[place.start] !== OPEN_BRACKET) return listOf(bytes, [bytes], fields);
  const list = bytes.subarray(place.start, place.end);
  return listOf(bytes, cutElements(list, scanJson(list)), fields);
}

/** The members that say something about the body. */
const BODY = planPaths(['batch', ...NAMING_MEMBERS].map((name) => [name]));

/** Makes an event of each line of a body, and marks only those with bytes that are not UTF-8. */
function listOf(body: Buffer, lines: readonly Buffer[], fields = {}): WireEvents {
  const isWhole = isUtf8(body);
  const events = lines.map((line) => (isWhole || isUtf8(line) ? { line } : { line, isRepaired: true }));
  return { events, count: events.length, fields };
}

function scanBody(bytes: Buffer): JsonScan {
  try {
    return scanJson(bytes, { paths: BODY });
  } catch (error) {
    if (error !== NOT_JSON) throw error;
    parseBody(bytes.toString()); // throws, with the place
    throw error;
  }
}

function cutElements(bytes: Buffer, { spans }: JsonScan): Buffer[] {
  rejectTooMany(spans.length / 2);
  const elements: Buffer[] = [];
  for (let i = 0; i < spans.length; i += 2) elements.push(bytes.subarray(spans[i], spans[i + 1]));
  return elements;
}

/**
 * Cuts an NDJSON body, one event a line; empty lines are skipped, and a bad line spoils only that event. Lines stay bytes
 * until each is parsed: all of their text at once would burden the garbage collector.
 */
function cutLines(bytes: Buffer): WireEvents {
  const lines = [...linesOf(bytes)].map((line) => line.bytes);
  rejectTooMany(lines.length);
  return listOf(bytes, lines);
}

function cutOtlp<T>(request: OtlpRequest<T>, read: ReadOne<T, LogRecord>, options: CutOptions): WireEvents {
  const count = countRecords(request);
  rejectTooMany(count);
  return { events: boundEvents(otlpEvents(request, read), options), count, fields: {} };
}
