import { TailraceError } from '../errors.ts';
import { pickSourceFields, type SourceFields } from './choose-source.ts';
import { type DecodedBody, decodeJson, decodeNdjson, type WireEvent } from './decode-body.ts';
import { toEvents } from './otlp/events.ts';
import { decodeRequest } from './otlp/schema.ts';
import { asUtf8, toText } from './read-body.ts';

/** How the bytes of a body are to be read. */
export type BodyFormat = 'json' | 'ndjson' | 'otlp-json' | 'otlp-protobuf';

/** The events of a body, still as they came, and what it says of its source. */
export interface OpenedBody {
  readonly events: readonly WireEvent[];
  readonly fields: SourceFields;
}

const DECODERS: Readonly<Record<BodyFormat, (bytes: Buffer) => DecodedBody>> = {
  json: (bytes) => decodeJson(toText(refuseManyValues(bytes))),
  ndjson: (bytes) => decodeNdjson(asUtf8(bytes)),
  'otlp-json': (bytes) => ({ events: toEvents(readOtlpJson(bytes), 'hex'), fields: {} }),
  'otlp-protobuf': (bytes) => ({ events: toEvents(readOtlpProtobuf(bytes), 'base64'), fields: {} }),
};

/** @throws TailraceError `invalid_request` when the bytes are not of that format, `body_too_large` for too many events */
export function openBody(bytes: Buffer, format: BodyFormat): OpenedBody {
  const { events, fields } = DECODERS[format](bytes);
  return { events, fields: pickSourceFields(fields) };
}

// Some fifty times as many as a body of the usual batch has; real events stay far below it at any size of body.
const VALUES_MAX = 8_000_000;

/** A body of nothing but tiny values takes many times its size, and seconds, to parse. An estimate from above: texts count too. */
function refuseManyValues(bytes: Buffer): Buffer {
  let values = 1;
  for (const byte of bytes) if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) values++;
  if (values <= VALUES_MAX) return bytes;
  throw new TailraceError('body_too_large', `the body has more than ${VALUES_MAX} values; send less at once`);
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

function readOtlpJson(bytes: Buffer): unknown {
  const text = toText(refuseManyValues(bytes));
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notWhole('JSON', cause);
  }
}

function readOtlpProtobuf(bytes: Buffer): unknown {
  try {
    return decodeRequest(bytes);
  } catch (cause) {
    throw notWhole('protobuf', cause);
  }
}

function notWhole(what: string, cause: unknown): TailraceError {
  return new TailraceError('invalid_request', `the body is not valid ${what}; it may have been cut short`, {
    cause,
  });
}
