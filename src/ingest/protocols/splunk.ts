import type { ErrorCode } from '../../errors.ts';
import {
  type BodyContext,
  countJsonMarks,
  createMarkCounter,
  type Format,
  type WireEvent,
} from '../body-format.ts';
import type { DocumentShape } from '../document.ts';
import { decodeJsonBody } from '../json/body.ts';
import { type Cursor, endOfBrackets, nextToken, passObject, passValue, type Span } from '../json/cursor.ts';
import { NOT_JSON, OPEN_BRACE, OPEN_BRACKET } from '../json/grammar.ts';
import { findName, scanJson } from '../json/scan.ts';
import { tryParse } from '../json/value.ts';
import type { Receipt } from '../receipt.ts';
import { collectEvents, lineEvents, membersOf, readShared, writeObject } from './event-text.ts';
import {
  type EventRoute,
  findBasicKey,
  findCredentials,
  type Protocol,
  type ProtocolReply,
  type ProtocolRequest,
  reasonsText,
} from './protocol.ts';

// Senders send any Content-Type, or none.
const ANY_TYPE = /^/;
const SUCCESS = { text: 'Success', code: 0 };

type Answer = readonly [status: number, code: number, text: string];

/** What Splunk's HTTP Event Collector responds, by our code. */
const ANSWERS: Readonly<Partial<Record<ErrorCode, Answer>>> = {
  unauthorized: [401, 3, 'Invalid authorization'],
  forbidden: [403, 4, 'Invalid token'],
  source_not_found: [400, 7, 'Incorrect index'],
  body_too_large: [413, 27, 'Request entity too large'],
  rate_limited: [503, 9, 'Server is busy'],
  overloaded: [503, 9, 'Server is busy'],
  engine_unavailable: [503, 9, 'Server is busy'],
  internal: [500, 8, 'Internal server error'],
};
const NO_DATA: Answer = [400, 5, 'No data'];
const INVALID: Answer = [400, 6, 'Invalid data format'];

/** Splunk's HTTP Event Collector (HEC). */
export const splunk: Protocol = {
  docs: {
    title: 'Splunk HEC',
    tested: 'splunk-logging',
    key: '`Authorization: Splunk`, or the password of `Basic`',
    timestamp: '`time`',
    message: '`event`, its `message` or `msg`; at `/raw` each line',
    project: '`project` of `event` or `fields`',
    metadata: 'members of `event` and `fields`; `host`, `source`, `sourcetype`, `index`',
    labels: '`host`, `source`, `sourcetype`, `index`',
    answers: '200 `{"text":"Success","code":0}`; 400 with code 6; 503 with code 9',
  },
  findKey: (request) => findCredentials(request, 'Splunk') ?? findBasicKey(request),
  events: [
    route({
      path: ['/services/collector', '/services/collector/event', '/services/collector/event/1.0'],
      summary: 'Splunk’s HTTP Event Collector',
      id: 'send_hec',
      format: 'splunk-events',
    }),
    route({
      path: ['/services/collector/raw', '/services/collector/raw/1.0'],
      summary: 'The same, by lines',
      id: 'send_hec_raw',
      format: 'splunk-lines',
    }),
  ],
  info: [
    {
      method: 'GET',
      path: ['/services/collector/health', '/services/collector/health/1.0'],
      summary: 'its health',
      isOpen: true,
      reply: () => ({ status: 200, body: { text: 'HEC is healthy', code: 17 } }),
    },
  ],
  refuse: ({ code, message }) => toReply(ANSWERS[code] ?? INVALID, { message }),
};

function route({
  path,
  summary,
  id,
  format,
}: Pick<EventRoute, 'path' | 'summary'> & {
  readonly id: string;
  readonly format: 'splunk-events' | 'splunk-lines';
}): EventRoute {
  return {
    ...{ method: 'POST', path, summary, id },
    bodies: [{ type: ANY_TYPE, shown: 'application/json', format }],
    context: originsOf,
    respond,
  };
}

/** What the query string says about the lines of `/raw`. */
function originsOf({ query }: ProtocolRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ORIGINS.flatMap((name) => {
      const value = query[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

function respond(receipt: Receipt): ProtocolReply {
  const { stored, refused, refusals } = receipt;
  if (stored + refused === 0) return toReply(NO_DATA, {});
  if (refused === 0) return { status: 200, body: SUCCESS };
  return toReply(INVALID, {
    'invalid-event-number': refusals[0]?.at ?? 0,
    message: reasonsText(receipt),
  });
}

function toReply([status, code, text]: Answer, more: Readonly<Record<string, unknown>>): ProtocolReply {
  return { status, body: { text, code, ...more } };
}

export const SPLUNK_FORMATS = {
  'splunk-events': {
    cut(received, options) {
      const { bytes, mark } = decodeJsonBody(received);
      return mark(collectEvents(objectEvents(bytes), options));
    },
    countMarks: countJsonMarks,
  },
  'splunk-lines': {
    cut: (bytes, options) =>
      collectEvents(
        lineEvents(bytes, (line) => toLineEvent(line, options.context)),
        options,
      ),
    countMarks: createMarkCounter('\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** What Splunk knows about an event beside its text; `accepts` may name each. */
const ORIGINS = ['host', 'source', 'sourcetype', 'index'] as const;

/** Reads objects that follow each other without a comma. */
function* objectEvents(bytes: Buffer): Generator<WireEvent> {
  const cursor = { bytes, at: 0 };
  for (let first = nextToken(cursor); cursor.at < bytes.length; first = nextToken(cursor)) {
    const { at } = cursor;
    const event = first === OPEN_BRACE ? tryCut(cursor) : undefined;
    if (event === undefined) cursor.at = first === OPEN_BRACE ? endOf(bytes, at) : bytes.length;
    yield event ?? { refused: 'is not a JSON object' };
  }
}

/** @returns `undefined` if the object is not valid */
function tryCut(cursor: Cursor): WireEvent | undefined {
  try {
    return toEvent(cursor.bytes, cutMembers(cursor));
  } catch (error) {
    if (error !== NOT_JSON) throw error;
    return undefined;
  }
}

/** Returns where an object that is not valid ends: the end of the bytes if it is not closed. */
function endOf(bytes: Buffer, start: number): number {
  try {
    return endOfBrackets(bytes, start);
  } catch {
    return bytes.length;
  }
}

const NAMES = ['event', 'time', 'fields', ...ORIGINS].map((name) => ({ name, bytes: Buffer.from(name) }));

interface Members {
  /** By name; of equal names the last. */
  readonly spans: ReadonlyMap<string, Span>;
  /** Whether the event has a member `message` that is an object, as splunk-logging sends it. */
  readonly isNested: boolean;
}

function cutMembers(cursor: Cursor): Members {
  const spans = new Map<string, Span>();
  let isNested = false;
  passObject(cursor, ({ start, end }) => {
    const name = findName(NAMES, cursor.bytes, start, end)?.name;
    const isObject = name === 'event' && cursor.bytes[cursor.at] === OPEN_BRACE;
    if (name === 'event') isNested = false;
    const value = isObject ? passEvent(cursor, () => (isNested = true)) : passValue(cursor);
    if (name !== undefined) spans.set(name, value);
  });
  return { spans, isNested };
}

const MESSAGE = [{ name: 'message', bytes: Buffer.from('message') }];

function passEvent(cursor: Cursor, onNested: () => void): Span {
  const { bytes, at: start } = cursor;
  passObject(cursor, (name) => {
    if (bytes[cursor.at] === OPEN_BRACE && findName(MESSAGE, bytes, name.start, name.end) !== undefined)
      onNested();
    passValue(cursor);
  });
  return { start, end: cursor.at };
}

// Where loggers put the text of an event that is an object.
const SHAPE: DocumentShape = { timestamp: [], message: ['message', 'msg'], otherwise: 'whole' };
const EMPTY = Buffer.from('{}');

function toEvent(bytes: Buffer, { spans, isNested }: Members): WireEvent {
  const textOf = (name: string) => {
    const span = spans.get(name);
    return span && bytes.toString('utf8', span.start, span.end);
  };
  const origins = ORIGINS.flatMap((name): [string, string][] => {
    const text = textOf(name);
    return text === undefined ? [] : [[name, text]];
  });
  const shared = readOrigins(origins, textOf('fields'));
  const labels = Object.fromEntries(origins.map(([name, text]) => [name, tryParse(text)]));
  const { start, end } = spans.get('event') ?? { start: 0, end: 0 };
  const inner = bytes.subarray(start, end);
  const isObject = inner[0] === OPEN_BRACE;
  const event = isObject ? '' : textOf('event');
  if (event === undefined || event === 'null') return { refused: 'has no member "event"', labels };
  if (event === '""') return { refused: 'has a blank member "event"', labels };
  if (inner[0] === OPEN_BRACKET) scanJson(inner);
  const defaults = { timestamp: textOf('time') };
  if (!isObject)
    return {
      line: EMPTY,
      document: { shape: SHAPE, defaults: { ...defaults, message: event }, shared },
      labels,
    };
  return { line: isNested ? unnest(inner) : inner, document: { shape: SHAPE, defaults, shared }, labels };
}

/** @throws NOT_JSON */
function readOrigins(origins: readonly (readonly [string, string])[], fields: string | undefined) {
  const more = fields?.startsWith('{') === true ? [...membersOf(fields)] : [];
  if (origins.length + more.length === 0) return undefined;
  return readShared(writeObject(new Map([...origins, ...more])));
}

/** Writes an event with the members of its `message` among its own. @throws NOT_JSON */
function unnest(bytes: Buffer): Buffer {
  const members = new Map(membersOf(bytes.toString()));
  const nested = members.get('message');
  if (nested?.startsWith('{') !== true) return bytes;
  members.delete('message');
  for (const [name, value] of membersOf(nested)) members.set(name, value);
  if (!SHAPE.message.some((name) => members.has(name))) members.set('message', nested);
  return Buffer.from(writeObject(members));
}

function toLineEvent(message: string, context: BodyContext): WireEvent {
  const metadata = JSON.stringify(context);
  return { text: `{"event_message":${message},"metadata":${metadata}}`, labels: context };
}
