import type { Endpoint } from '../definitions/endpoint.ts';
import { FORMAT_PARAMETER } from '../definitions/parameter.ts';
import type { QueryOptions, QueryResult } from '../engine/engine.ts';
import { type RawParameters, rejectParameter } from './parameters.ts';
import { findPrometheusFault } from './prometheus.ts';

/** How answers are written. Adding one to `FORMATS` is all that a format needs. */
export interface Format {
  /** What `format=` takes; part of the cache key; the extension of a file. */
  readonly name: string;
  /** The Content-Type, then other spellings of `Accept`: a range with parameters matches only a type that has them. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** What the engine writes. */
  readonly engineFormat: QueryOptions['format'];
  /** Whether the engine's lines become a list in an object; left out if the engine's bytes are the body. */
  readonly isFramed?: true;
  /** Whether the engine's lines are samples (prometheus.ts), not rows of the declared columns. */
  readonly isOfSamples?: true;
  /** Whether browsers are to save an answer, under the name of its endpoint. */
  readonly isFile?: true;
  /** Whether its parts are compressed, so that compressing an answer for its way does not help. */
  readonly isCompressed?: true;
}

/** A body of rows. */
export interface FramedRows {
  readonly body: Buffer;
  readonly rows: number;
}

export const JSON_FORMAT: Format = {
  name: 'json',
  mediaTypes: ['application/json; charset=utf-8', 'application/json'],
  engineFormat: 'JSONEachRow',
  isFramed: true,
};

/** A row a line, as the engine writes them. */
export const NDJSON_FORMAT: Format = {
  name: 'ndjson',
  mediaTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  engineFormat: 'JSONEachRow',
};

/** Every format, the default first. */
export const FORMATS: readonly [Format, ...Format[]] = [
  JSON_FORMAT,
  NDJSON_FORMAT,
  {
    name: 'csv',
    mediaTypes: [
      'text/csv; charset=utf-8; header=present',
      'text/csv; header=present',
      'text/csv; charset=utf-8',
      'text/csv',
    ],
    engineFormat: 'CSVWithNames',
    isFile: true,
  },
  {
    name: 'arrow',
    mediaTypes: ['application/vnd.apache.arrow.stream'],
    engineFormat: 'ArrowStream',
  },
  {
    name: 'parquet',
    mediaTypes: ['application/vnd.apache.parquet'],
    engineFormat: 'Parquet',
    isFile: true,
    isCompressed: true,
  },
  {
    name: 'prometheus',
    mediaTypes: [
      'text/plain; version=0.0.4; charset=utf-8',
      'text/plain; version=0.0.4',
      'text/plain; charset=utf-8',
      'text/plain',
    ],
    engineFormat: 'TSVRaw',
    isOfSamples: true,
  },
];

/** The names that `format` takes at an endpoint; none if it declares a parameter of this name. */
export function formatNames(endpoint: Endpoint): string[] {
  if (endpoint.parameters.some(({ name }) => name === FORMAT_PARAMETER)) return [];
  const isOpen = endpoint.columns.length === 0; // its columns depend on parameters
  return (isOpen ? FORMATS : findFormats(endpoint)).map(({ name }) => name);
}

/** The formats in which an endpoint has answers. */
export function findFormats(endpoint: Endpoint): readonly Format[] {
  return FORMATS.filter((format) => findFault(format, endpoint) === undefined);
}

function findFault({ isOfSamples }: Format, endpoint: Endpoint): string | undefined {
  return isOfSamples && findPrometheusFault(endpoint);
}

/** @throws TailraceError `invalid_parameter` if the endpoint has no answer in this format */
export function requireFormat(format: Format, endpoint: Endpoint): void {
  const message = findFault(format, endpoint);
  if (message !== undefined) throw rejectParameter(FORMAT_PARAMETER, message);
}

/** The format that a caller names, unless `format` is the endpoint's. @throws TailraceError `invalid_parameter` */
export function findNamedFormat(endpoint: Endpoint, raw: RawParameters): Format | undefined {
  const named = raw[FORMAT_PARAMETER];
  const names = formatNames(endpoint);
  if (named === undefined || named.length === 0 || names.length === 0) return undefined;
  const format = FORMATS.find(({ name }) => name === named);
  if (format !== undefined) return format;
  const given = typeof named === 'string' ? JSON.stringify(named.slice(0, 100)) : `${named.length} values`;
  const message = `must be one of ${names.join(', ')}, not ${given}`;
  throw rejectParameter(FORMAT_PARAMETER, message);
}

/** The Content-Type without its parameters. */
export function mediaTypeOf({ mediaTypes }: Format): string {
  return mediaTypes[0].split(';')[0] ?? mediaTypes[0];
}

const NEWLINE = 0x0a;
export const LINE_END = Buffer.from('\n');

/** The body of an answer: the engine's bytes themselves, or their lines in a frame. No row becomes an object. */
export function frameAnswer({ isFramed, isOfSamples }: Format, { bytes, rows }: QueryResult): FramedRows {
  return isFramed
    ? frameRows(bytes)
    : { body: bytes, rows: rows ?? countLines(bytes, isOfSamples && COMMENT) };
}

const COMMENT = 0x23;

/** @param comment the byte with which lines begin that are not counted */
function countLines(lines: Buffer, comment: number | undefined): number {
  let rows = 0;
  for (let at = 0; at < lines.length; at = lines.indexOf(NEWLINE, at) + 1) if (lines[at] !== comment) rows++;
  return rows;
}

const HEAD = Buffer.from('{"result":[');
const TAIL = Buffer.from(']}');
const COMMA = 0x2c;

/** Puts the frame around the engine's lines. Only bytes are changed. */
function frameRows(lines: Buffer): FramedRows {
  const end = lines.length - LINE_END.length;
  const body = Buffer.concat([HEAD, lines.subarray(0, Math.max(end, 0)), TAIL]);
  if (lines.length === 0) return { body, rows: 0 };
  let rows = 1;
  for (let at = body.indexOf(NEWLINE); at !== -1; at = body.indexOf(NEWLINE, at + 1)) {
    body[at] = COMMA;
    rows++;
  }
  return { body, rows };
}

/** The lines of an answer in NDJSON, or of the engine. */
export function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at);
    lines.push(bytes.subarray(at, end));
    at = end + LINE_END.length;
  }
  return lines;
}

/** The last of at least one line. */
export function lastLine(bytes: Buffer): Buffer {
  const end = bytes.length - LINE_END.length;
  return bytes.subarray(bytes.lastIndexOf(NEWLINE, end - 1) + 1, end);
}
