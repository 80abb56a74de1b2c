import { TailraceError } from '../../errors.ts';
import {
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  type Format,
  malformed,
  type WireEvent,
} from '../body-format.ts';
import type { DocumentShape, SharedMembers } from '../document.ts';
import { decodeJsonBody, readJson } from '../json/body.ts';
import type { Span } from '../json/cursor.ts';
import { OPEN_BRACE } from '../json/grammar.ts';
import { collectEvents, readShared } from './event-text.ts';
import { decodePushRequest, type PushRequest, readPush } from './loki-push.ts';
import { findBasicKey, type Protocol, reasonsText } from './protocol.ts';
import { decompressSnappy, readLength } from './snappy.ts';

const TEXT = 'text/plain; charset=utf-8';

/** Loki's push API. */
export const loki: Protocol = {
  docs: {
    title: 'Loki',
    tested: 'pino-loki, winston-loki',
    key: 'password of `Authorization: Basic`',
    timestamp: 'time of the entry',
    message: 'line',
    project: 'label `project`, else the header `X-Scope-OrgID`',
    metadata: 'labels and structured metadata',
    labels: 'any label',
    answers: '204',
  },
  projectHeader: 'x-scope-orgid',
  findKey: findBasicKey,
  events: [
    {
      method: 'POST',
      path: '/loki/api/v1/push',
      summary: 'Loki’s push API',
      id: 'send_loki',
      bodies: [
        {
          type: /^application\/json(?:;|$)/i,
          shown: 'application/json',
          format: 'loki-json',
        },
        {
          type: /^application\/x-protobuf(?:;|$)/i,
          shown: 'application/x-protobuf',
          format: 'loki-protobuf',
          ownEncoding: 'snappy',
        },
      ],
      respond: (receipt) =>
        receipt.refused === 0 ? { status: 204 } : { status: 400, type: TEXT, body: reasonsText(receipt) },
    },
  ],
  info: [],
  // Senders log the text, and send again what failed with 429 or 5xx.
  refuse: ({ status, message }) => ({ status, type: TEXT, body: message }),
};

// A block of Snappy up to this size is decompressed to count its marks; a larger one is decoded on the thread.
const COUNTED_BYTES_MAX = 64 * 1024;

// The tags of all fields with a length: every stream, entry and label begins with one.
const countTags = createMarkCounter('\x0a\x12\x1a');

export const LOKI_FORMATS = {
  'loki-json': {
    cut(received, options) {
      const { bytes, mark } = decodeJsonBody(received);
      return mark(readJson(bytes, () => collectEvents(jsonEvents(bytes), options)));
    },
    countMarks: countJsonMarks,
  },
  'loki-protobuf': {
    isBinary: true,
    cut: (bytes, options) => collectEvents(protobufEvents(readProtobuf(bytes, options)), options),
    countMarks: (bytes) => {
      const length = readLength(bytes) ?? 0;
      if (length > COUNTED_BYTES_MAX) return Number.POSITIVE_INFINITY;
      try {
        return countTags(decompressSnappy(bytes, COUNTED_BYTES_MAX));
      } catch {
        return 0; // `cut` fails at once
      }
    },
  },
} as const satisfies Readonly<Record<string, Format>>;

const SHAPE: DocumentShape = { timestamp: [], message: [] };
const EMPTY = Buffer.from('{}');

function* jsonEvents(bytes: Buffer): Generator<WireEvent> {
  for (const { labels, entries } of readPush(bytes, wrongShape)) {
    const shared = readLabels(labels);
    for (const entry of entries) yield jsonEvent(bytes, entry, shared);
  }
}

/** @throws NOT_JSON */
function readLabels(text: string): SharedMembers | undefined {
  return text === '{}' ? undefined : readShared(text);
}

function jsonEvent(bytes: Buffer, entry: readonly Span[] = [], shared: SharedMembers | undefined): WireEvent {
  const textOf = (span: Span | undefined) => span && bytes.toString('utf8', span.start, span.end);
  const [time, line, more] = entry;
  const [timestamp, message] = [textOf(time), textOf(line)];
  const first = more === undefined ? OPEN_BRACE : bytes[more.start];
  const isMap = first === OPEN_BRACE || textOf(more) === 'null';
  if (timestamp === undefined || !/^["\d-]/.test(timestamp) || message?.startsWith('"') !== true || !isMap)
    return {
      refused: 'is not ["<nanoseconds>", "<line>"], with an optional map of structured metadata',
      labels: shared?.values ?? {},
    };
  return toEvent({
    ...{ timestamp, message, shared },
    more: more === undefined || first !== OPEN_BRACE ? EMPTY : bytes.subarray(more.start, more.end),
  });
}

function* protobufEvents({ streams }: PushRequest): Generator<WireEvent> {
  for (const { labels: text, entries } of streams) {
    const labels = parseLabels(text);
    const shared = readLabels(JSON.stringify(labels ?? {}));
    for (const { timestamp, line, structuredMetadata } of entries) {
      if (labels === undefined) yield { refused: 'has labels that are not as {app="gateway"}' };
      else {
        const pairs = structuredMetadata.map(({ name, value }) => [name, value] as const);
        yield toEvent({
          timestamp: JSON.stringify(nanoseconds(timestamp)),
          ...{ message: JSON.stringify(line), shared },
          more: pairs.length === 0 ? EMPTY : Buffer.from(JSON.stringify(Object.fromEntries(pairs))),
        });
      }
    }
  }
}

/** Padded to 18 digits, so that the event rules read nanoseconds; they reject what is not a number. */
function nanoseconds(timestamp: PushRequest['streams'][number]['entries'][number]['timestamp']): string {
  const { seconds = 0, nanos = 0 } = timestamp ?? {};
  return `${Number(seconds)}${String(nanos).padStart(9, '0')}`.padStart(18, '0');
}

interface Entry {
  /** JSON texts. */
  readonly timestamp: string;
  readonly message: string;
  readonly shared: SharedMembers | undefined;
  /** Structured metadata, which comes before a label of the same name. */
  readonly more: Buffer;
}

function toEvent({ timestamp, message, shared, more }: Entry): WireEvent {
  return { line: more, document: { shape: SHAPE, defaults: { timestamp, message }, shared } };
}

function readProtobuf(bytes: Buffer, { decodedBytesMax }: CutOptions): PushRequest {
  const decompressed = decompressSnappy(bytes, decodedBytesMax);
  try {
    return decodePushRequest(decompressed);
  } catch (cause) {
    throw malformed('protobuf', cause);
  }
}

function wrongShape(what: string): TailraceError {
  return new TailraceError('invalid_request', `the body is not a push request of Loki: ${what}`);
}

// A name, and a text in double quotes with escapes, or in backquotes without. Every alternative begins with another
// character, so that the time is in proportion to the text.
const LABEL = /\s*([A-Za-z_][\w.:/-]*)\s*=\s*("(?:[^"\\\n]|\\[^\n])*"|`[^`]*`)\s*(,|\}\s*$)/y;
const EMPTY_LABELS = /^\s*\{\s*\}\s*$/;

/** Reads Loki's text of labels, such as `{app="gateway", level="info"}`; `undefined` if it is not well-formed. */
export function parseLabels(text: string): Record<string, string> | undefined {
  if (EMPTY_LABELS.test(text)) return {};
  const entries: [string, string][] = [];
  LABEL.lastIndex = text.indexOf('{') + 1;
  if (text.slice(0, LABEL.lastIndex).trim() !== '{') return undefined;
  for (let end = false; !end; ) {
    const [, name = '', quoted = '', after = ''] = LABEL.exec(text) ?? [];
    const value = unquote(quoted);
    if (value === undefined) return undefined;
    entries.push([name, value]);
    end = after !== ',';
  }
  return Object.fromEntries(entries);
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/g;
const SINGLE: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', '"': '"', "'": "'" },
};
const CODE_POINT_MAX = 0x10ffff;

/** Reads a text as Go quotes it; `undefined` if it is not one. */
function unquote(quoted: string): string | undefined {
  if (quoted.startsWith('`')) return quoted.slice(1, -1);
  if (quoted === '') return undefined;
  const inner = quoted.slice(1, -1);
  if (!inner.includes('\\')) return inner;
  let isWrong = false;
  const text = inner.replaceAll(
    ESCAPE,
    (_, x?: string, u?: string, long?: string, octal?: string, one = '') => {
      const hex = x ?? u ?? long;
      const code = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
      if (code <= CODE_POINT_MAX) return String.fromCodePoint(code);
      const single = SINGLE[one];
      isWrong ||= single === undefined;
      return single ?? '';
    },
  );
  return isWrong ? undefined : text;
}
