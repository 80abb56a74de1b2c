import { TailraceError } from '../errors.ts';
import { cutElements, cutMembers, UNLIMITED } from './json-text.ts';
import { isBlank, NEWLINE } from './lines.ts';

/** One event as it came: its exact text, and its value where the text has been parsed already; or a line still to be read. */
export type WireEvent = { readonly text: string; readonly value?: unknown } | { readonly line: Buffer };

export interface DecodedBody {
  readonly events: readonly WireEvent[];
  /** Members of a body that is an object: a source may be named there. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const EVENTS_MAX = 50_000;

/**
 * Takes the events out of a JSON body: an array of events, `{"batch": […]}`, or one event.
 *
 * @throws TailraceError `invalid_request` when the text is not JSON or is none of these
 */
export function decodeJson(text: string): DecodedBody {
  const body = parse(text);
  if (Array.isArray(body)) return { events: zip(text, body), fields: {} };
  if (typeof body !== 'object' || body === null) {
    throw new TailraceError(
      'invalid_request',
      'the body must be an array of events, {"batch": […]} or one event',
    );
  }
  const fields = body as Record<string, unknown>;
  const batch = Object.hasOwn(fields, 'batch') ? fields['batch'] : undefined;
  if (!Array.isArray(batch)) return { events: [{ text, value: body }], fields };
  // The last of two members with one name counts, here as in JSON.parse.
  const member = cutMembers(text, UNLIMITED).findLast(({ name }) => name === 'batch');
  return { events: zip(member?.text ?? '[]', batch), fields };
}

/**
 * Takes the events out of an NDJSON body, one a line; empty lines are passed over. A bad line is that event's fault alone.
 * The lines stay bytes until each is read: their text all at once is a burden on the garbage collector.
 *
 * @param bytes valid UTF-8
 */
export function decodeNdjson(bytes: Buffer): DecodedBody {
  const events: WireEvent[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) events.push({ line });
    start = end + 1;
  }
  refuseTooMany(events.length);
  return { events, fields: {} };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TailraceError('invalid_request', 'the body is not valid JSON; it may have been cut short', {
      cause,
    });
  }
}

function zip(listText: string, values: readonly unknown[]): WireEvent[] {
  refuseTooMany(values.length);
  return cutElements(listText).map((text, i) => ({ text, value: values[i] }));
}

/** A body of tiny events would keep the service busy for longer than its size lets one think. */
export function refuseTooMany(count: number): void {
  if (count <= EVENTS_MAX) return;
  throw new TailraceError(
    'body_too_large',
    `the body has ${count} events; send at most ${EVENTS_MAX} at once`,
  );
}
