import type { RowFormat } from '../engine/engine.ts';

/** How answers are written. Adding one to `FORMATS` is all that a format needs. */
export interface Format {
  /** Part of the cache key. */
  readonly name: string;
  /** The Content-Type, then other spellings that an `Accept` may ask for: a range with parameters matches only a type that has them. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** What the engine writes: a line for each row. */
  readonly engineFormat: RowFormat;
  /** How the engine's lines become a body. The separator is one byte, in the place of the newline between two rows. */
  readonly framing: { readonly head: string; readonly separator: string; readonly tail: string };
}

/** A body of rows. */
export interface Framed {
  readonly body: Buffer;
  readonly rows: number;
  /** Where each row begins in `body`; only of endpoints with time buckets or pages, which read single rows of answers. */
  readonly rowStarts?: Uint32Array;
}

export const JSON_FORMAT: Format = {
  name: 'json',
  mediaTypes: ['application/json; charset=utf-8', 'application/json'],
  engineFormat: 'JSONEachRow',
  framing: { head: '{"result":[', separator: ',', tail: ']}' },
};

/** Every format, the default first. */
export const FORMATS: readonly [Format, ...Format[]] = [JSON_FORMAT];

const NEWLINE = 0x0a;
const LINE_END = Buffer.from('\n');

/** Puts the frame around the engine's lines. Only bytes are changed: no row becomes an object. */
export function frameRows({ framing }: Format, lines: Buffer): Framed {
  if (lines.length === 0) return { body: Buffer.from(framing.head + framing.tail), rows: 0 };
  const end = framing.head.length + lines.length - 1;
  const body = Buffer.allocUnsafe(end + framing.tail.length);
  body.write(framing.head, 'latin1');
  lines.copy(body, framing.head.length, 0, lines.length - 1);
  body.write(framing.tail, end, 'latin1');
  const separator = framing.separator.charCodeAt(0);
  let rows = 1;
  for (let at = body.indexOf(NEWLINE, framing.head.length); at !== -1; at = body.indexOf(NEWLINE, at + 1)) {
    if (at >= end) break; // the tail's own
    body[at] = separator;
    rows++;
  }
  return { body, rows };
}

/** The same, with `rowStarts`. */
export function frameBucketRows(format: Format, lines: Buffer): Framed {
  const { length } = format.framing.head;
  const starts: number[] = [];
  for (let at = 0; at < lines.length; at = lines.indexOf(NEWLINE, at) + 1) starts.push(length + at);
  return { ...frameRows(format, lines), rowStarts: Uint32Array.from(starts) };
}

/** The text of one row of a body with `rowStarts`. */
export function rowAt({ framing }: Format, { body, rowStarts }: Framed, row: number): Buffer {
  const next = rowStarts?.[row + 1];
  const end = next === undefined ? body.length - framing.tail.length : next - framing.separator.length;
  return body.subarray(rowStarts?.[row], end);
}

/** One body of rows that were read with `rowAt`. */
export function joinRows(format: Format, rows: readonly Buffer[]): Framed {
  return frameBucketRows(format, Buffer.concat(rows.flatMap((row) => [row, LINE_END])));
}
