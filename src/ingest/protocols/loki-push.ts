import type { TailraceError } from '../../errors.ts';
import { requireEnd } from '../json/body.ts';
import { type Cursor, nextToken, passArray, passObject, passValue, type Span } from '../json/cursor.ts';
import { OPEN_BRACE, OPEN_BRACKET } from '../json/grammar.ts';
import { findName } from '../json/scan.ts';
import { createMessages } from './protobuf.ts';

/** A stream of a push request in JSON. */
interface JsonStream {
  /** The JSON text of a map. */
  readonly labels: string;
  /** The places of the elements of each entry; `undefined` if it is not a list. */
  readonly entries: readonly (readonly Span[] | undefined)[];
}

const named = (name: string) => [{ name, bytes: Buffer.from(name) }];
const STREAMS = named('streams');
const MEMBERS = [...named('stream'), ...named('values')];

/** @throws NOT_JSON; what `wrongShape` returns if it is not a push request */
export function readPush(bytes: Buffer, wrongShape: (what: string) => TailraceError): readonly JsonStream[] {
  const cursor = { bytes, at: 0 };
  let streams: (JsonStream | undefined)[] | undefined;
  const onMember = ({ start, end }: Span) => {
    if (findName(STREAMS, bytes, start, end) === undefined) passValue(cursor);
    else streams = readList(cursor, readStream);
  };
  if (nextToken(cursor) === OPEN_BRACE) passObject(cursor, onMember);
  else passValue(cursor);
  requireEnd(cursor);
  if (streams === undefined) throw wrongShape('it needs "streams", a list');
  return streams.map((stream) => {
    if (stream !== undefined) return stream;
    throw wrongShape('each of "streams" needs "stream", a map, and "values", a list');
  });
}

/** Passes a value. @returns what is read of its elements; `undefined` if it is not a list */
function readList<T>(cursor: Cursor, read: (cursor: Cursor) => T): T[] | undefined {
  if (cursor.bytes[cursor.at] !== OPEN_BRACKET) {
    passValue(cursor);
    return undefined;
  }
  const list: T[] = [];
  passArray(cursor, () => list.push(read(cursor)));
  return list;
}

function readStream(cursor: Cursor): JsonStream | undefined {
  const { bytes, at } = cursor;
  if (bytes[at] !== OPEN_BRACE) {
    passValue(cursor);
    return undefined;
  }
  let labels = '{}';
  let entries: JsonStream['entries'] | undefined;
  passObject(cursor, (place) => {
    const name = findName(MEMBERS, bytes, place.start, place.end)?.name;
    if (name === 'values') entries = readList(cursor, (one) => readList(one, passValue));
    else {
      const { start, end } = passValue(cursor);
      if (name === 'stream') labels = bytes.toString('utf8', start, end);
    }
  });
  if (labels === 'null') labels = '{}';
  return labels.startsWith('{') && entries !== undefined ? { labels, entries } : undefined;
}

/** A push request as its protobuf decodes. */
export interface PushRequest {
  readonly streams: readonly {
    readonly labels: string;
    readonly entries: readonly {
      readonly timestamp?: { readonly seconds: unknown; readonly nanos: number } | null;
      readonly line: string;
      readonly structuredMetadata: readonly { readonly name: string; readonly value: string }[];
    }[];
  }[];
}

// By the field numbers of the protocol (logproto).
const root = createMessages({
  PushRequest: { streams: [1, 'repeated Stream'] },
  Stream: { labels: [1, 'string'], entries: [2, 'repeated Entry'] },
  Entry: {
    timestamp: [1, 'Timestamp'],
    line: [2, 'string'],
    structuredMetadata: [3, 'repeated LabelPair'],
  },
  Timestamp: { seconds: [1, 'int64'], nanos: [2, 'int32'] },
  LabelPair: { name: [1, 'string'], value: [2, 'string'] },
});

const type = root.lookupType('PushRequest');

/** @throws Error if the bytes are not this message */
export function decodePushRequest(bytes: Uint8Array): PushRequest {
  return type.decode(bytes) as unknown as PushRequest; // of these fields
}
