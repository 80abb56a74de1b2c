import { isUtf8 } from 'node:buffer';
import { malformed, parseBody, requireJson, type WireEvent, type WireEvents } from '../body-format.ts';
import { REPLACEMENT } from '../utf8.ts';
import { type Cursor, nextToken } from './cursor.ts';
import { NOT_JSON } from './grammar.ts';

/** A body of JSON as UTF-8, with U+FFFD for bytes that are not. */
export interface JsonBody {
  readonly bytes: Buffer;
  /** Marks events in which U+FFFD stands for such bytes: one bad byte loses no other event. */
  readonly mark: (cut: WireEvents) => WireEvents;
}

/** @throws TailraceError `body_too_large`, `invalid_request` as `requireJson` */
export function decodeJsonBody(received: Buffer): JsonBody {
  requireJson(received);
  if (isUtf8(received)) return { bytes: received, mark: (cut) => cut };
  const mark = ({ events, fields }: WireEvents) => ({
    events: events.map((event) => (isRepaired(event) ? { ...event, isRepaired: true } : event)),
    fields,
  });
  return { bytes: Buffer.from(received.toString()), mark };
}

function isRepaired(event: WireEvent): boolean {
  if ('refused' in event) return false;
  if ('text' in event) return event.text.includes(REPLACEMENT);
  const { defaults, shared } = event.document ?? {};
  return (
    event.line.includes(REPLACEMENT) ||
    defaults?.message?.includes(REPLACEMENT) === true ||
    shared?.members.some(({ text }) => text.includes(REPLACEMENT)) === true
  );
}

/**
 * Reads a body of JSON.
 *
 * @param read may leave values unread
 * @throws TailraceError `invalid_request` with the place of the fault
 */
export function readJson<T>(bytes: Buffer, read: (bytes: Buffer) => T): T {
  try {
    return read(bytes);
  } catch (error) {
    if (error !== NOT_JSON) throw error;
    parseBody(bytes.toString()); // throws, with the place
    throw malformed('JSON', error);
  }
}

/** @throws NOT_JSON if anything follows */
export function requireEnd(cursor: Cursor): void {
  nextToken(cursor);
  if (cursor.at !== cursor.bytes.length) throw NOT_JSON;
}
