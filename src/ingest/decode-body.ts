import { TailraceError } from '../errors.ts';
import { cutElements, cutMembers, UNLIMITED } from './json-text.ts';

/** One event as it came: its exact text, and its value where the text has been parsed already. */
export interface WireEvent {
  readonly text: string;
  /** `undefined` where the text is still to be parsed, as for a line of NDJSON. */
  readonly value?: unknown;
}

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

// Only what src/ingest/lines.ts passes over too: `tailrace load --url` counts lines to tell which of them were refused.
const BLANK = /^[ \t\r]*$/;

/** Takes the events out of an NDJSON body, one a line; empty lines are passed over. A bad line is that event's fault alone. */
export function decodeNdjson(text: string): DecodedBody {
  const lines = text.split('\n').filter((line) => !BLANK.test(line));
  refuseTooMany(lines.length);
  return { events: lines.map((line) => ({ text: line })), fields: {} };
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
function refuseTooMany(count: number): void {
  if (count <= EVENTS_MAX) return;
  throw new TailraceError(
    'body_too_large',
    `the body has ${count} events; send at most ${EVENTS_MAX} at once`,
  );
}
