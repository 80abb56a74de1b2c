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
  json: (bytes) => decodeJson(toText(bytes)),
  ndjson: (bytes) => decodeNdjson(asUtf8(bytes)),
  'otlp-json': (bytes) => ({ events: toEvents(readOtlpJson(bytes), 'hex'), fields: {} }),
  'otlp-protobuf': (bytes) => ({ events: toEvents(readOtlpProtobuf(bytes), 'base64'), fields: {} }),
};

/** @throws TailraceError `invalid_request` when the bytes are not of that format, `body_too_large` for too many events */
export function openBody(bytes: Buffer, format: BodyFormat): OpenedBody {
  const { events, fields } = DECODERS[format](bytes);
  return { events, fields: pickSourceFields(fields) };
}

function readOtlpJson(bytes: Buffer): unknown {
  const text = toText(bytes);
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
