import { isUtf8 } from 'node:buffer';
import { type Gunzip, gunzipSync } from 'node:zlib';
import { TailraceError } from '../../errors.ts';
import { headerOf } from '../../lib/header.ts';
import {
  type CutOptions,
  createMarkCounter,
  decodeJson,
  type Format,
  parseBody,
  type WireEvent,
} from '../body-format.ts';
import type { DocumentShape, SharedMembers } from '../document.ts';
import { cutElements } from '../json/text.ts';
import { isObject, tryParse } from '../json/value.ts';
import { cutLines } from '../lines.ts';
import { withoutMark } from '../utf8.ts';
import { collectEvents, membersOf, readShared, writeObject } from './event-text.ts';
import { type Protocol, type ProtocolReply, type ProtocolRequest, reasonsText } from './protocol.ts';

const REQUEST_ID = 'x-amz-firehose-request-id';

/** Amazon Data Firehose's delivery to an HTTP endpoint. */
export const firehose: Protocol = {
  docs: {
    title: 'Amazon Data Firehose',
    tested: 'its documented bodies',
    key: '`X-Amz-Firehose-Access-Key`',
    timestamp: '`timestamp` of the object or of CloudWatch’s event, else of the request',
    message: '`message`; of a record that is not JSON each line',
    project: '`project` of the object or common attributes',
    metadata: 'the other members; common attributes; CloudWatch’s `logGroup`, `logStream`, `owner`',
    labels: '`logGroup`, common attributes, members of the object',
    answers: '200 `{"requestId":…,"timestamp":…}`, with `errorMessage` where events are rejected',
  },
  findKey: (request) => headerOf(request, 'x-amz-firehose-access-key'),
  events: [
    {
      method: 'POST',
      path: '/drains/firehose',
      summary: 'Amazon Data Firehose',
      id: 'send_firehose',
      bodies: [{ type: /^application\/json(?:;|$)/i, shown: 'application/json', format: 'firehose' }],
      repeatHeader: REQUEST_ID,
      context(request) {
        const attributes = headerOf(request, 'x-amz-firehose-common-attributes');
        return attributes === undefined ? {} : { [ATTRIBUTES]: attributes };
      },
      // Anything but 200 would make Firehose send the same rejected events for a day.
      respond: (receipt, request) =>
        reply(request, 200, receipt.refused === 0 ? undefined : reasonsText(receipt)),
    },
  ],
  info: [],
  refuse: ({ status, message }) => reply(undefined, status, message),
};

function reply(
  request: Pick<ProtocolRequest, 'headers'> | undefined,
  status: number,
  errorMessage: string | undefined,
): ProtocolReply {
  const requestId = request === undefined ? undefined : headerOf(request, REQUEST_ID);
  return {
    status,
    body: { ...(requestId !== undefined && { requestId }), timestamp: Date.now(), errorMessage },
  };
}

export const FIREHOSE_FORMATS = {
  firehose: {
    cut: (bytes, options) => collectEvents(recordEvents(decodeJson(bytes).text, options), options),
    // Records are base64, perhaps of gzip: nothing of what they hold is seen, so all but small bodies are decoded on
    // the thread.
    countMarks: createMarkCounter('ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The context's name of the attributes that a delivery stream sends with each request. */
const ATTRIBUTES = 'attributes';

const GZIP = [0x1f, 0x8b] as const;

function* recordEvents(
  text: string,
  { context, decodedBytesMax }: Pick<CutOptions, 'context' | 'decodedBytesMax'>,
): Generator<WireEvent> {
  const body = parseBody(text);
  const records = isObject(body) ? body['records'] : undefined;
  if (!isObject(body) || !Array.isArray(records))
    throw new TailraceError('invalid_request', 'the body has no list "records"');
  const common = {
    shared: readAttributes(context[ATTRIBUTES]),
    timestamp: JSON.stringify(body['timestamp']),
  };
  let left = decodedBytesMax;
  for (const record of records) {
    const data = isObject(record) ? record['data'] : undefined;
    const bytes = typeof data === 'string' ? inflate(Buffer.from(data, 'base64'), left) : undefined;
    left -= bytes?.length ?? 0;
    if (bytes === undefined) yield { refused: 'has no "data" in base64, or gzip that is not whole' };
    else yield* eventsOf(withoutMark(bytes), common);
  }
}

function readAttributes(text: string | undefined): SharedMembers {
  const value = text === undefined ? undefined : tryParse(text);
  const attributes = isObject(value) ? value['commonAttributes'] : undefined;
  return readShared(isObject(attributes) ? JSON.stringify(attributes) : '{}');
}

/** @returns `undefined` if the bytes are not whole @throws TailraceError `body_too_large` */
function inflate(bytes: Buffer, bytesMax: number): Buffer | undefined {
  if (bytes[0] !== GZIP[0] || bytes[1] !== GZIP[1]) return bytes;
  try {
    const maxOutputLength = Math.max(1, Math.min(bytesMax, 2 ** 31));
    // With `info`, which its type leaves out, the result has these members.
    const whole = gunzipSync(bytes, { maxOutputLength, info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: Gunzip;
    };
    return whole.engine.bytesWritten === bytes.length ? whole.buffer : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new TailraceError(
      'body_too_large',
      'the records are too large when decompressed; send less at once',
    );
  }
}

/** What the events of a request have in common. */
interface Common {
  /** The time of those without one, as JSON: ms since the epoch. */
  readonly timestamp: string | undefined;
  readonly shared: SharedMembers;
}

const SHAPE: DocumentShape = { timestamp: ['timestamp'], message: ['message'] };

/** Reads a record: events of CloudWatch, or lines, each a JSON object or text. */
function* eventsOf(bytes: Buffer, { timestamp, shared }: Common): Generator<WireEvent> {
  const whole = mayBeCloudWatch(bytes) ? tryParse(bytes.toString()) : undefined;
  if (isObject(whole) && Array.isArray(whole['logEvents'])) {
    if (whole['messageType'] !== 'CONTROL_MESSAGE')
      yield* cloudWatchEvents(bytes.toString(), whole, shared.values);
    return;
  }
  const isWhole = isUtf8(bytes);
  const document = { ...{ shape: SHAPE, defaults: { timestamp }, shared }, isTextOtherwise: true };
  for (const line of cutLines(bytes)) yield { line, document, isRepaired: !isWhole && !isUtf8(line) };
}

/** A name may be written with escapes. */
function mayBeCloudWatch(bytes: Buffer): boolean {
  return bytes.includes('logEvents') || bytes.includes('\\u');
}

function* cloudWatchEvents(
  text: string,
  { logEvents: _, subscriptionFilters: __, messageType: ___, ...origin }: Readonly<Record<string, unknown>>,
  shared: SharedMembers['values'],
): Generator<WireEvent> {
  const labels = { ...shared, ...origin };
  const metadata = JSON.stringify(labels);
  for (const event of cutElements(membersOf(text).get('logEvents') ?? '[]')) {
    if (!isObject(tryParse(event))) {
      yield { refused: 'is not a JSON object' };
      continue;
    }
    const members = membersOf(event);
    yield {
      text: writeObject([
        ['id', members.get('id')],
        ['timestamp', members.get('timestamp')],
        ['event_message', members.get('message')],
        ['metadata', metadata],
      ]),
      labels,
    };
  }
}
