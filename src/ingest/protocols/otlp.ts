import { TailraceError } from '../../errors.ts';
import { isObject } from '../../lib/json.ts';
import {
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  decodeJson,
  type Format,
  lazyEvents,
  parseBody,
} from '../body-format.ts';
import { createMessages, type Messages, readMessage } from '../protobuf.ts';
import type { Receipt } from '../rejected.ts';
import { countRecords, type LogRecord, type OtlpRequest, otlpEvents, SEVERITY_NAME } from './otlp-events.ts';
import { bodyOf, findQueryKey, type Protocol, type ProtocolHead, type ProtocolReply } from './protocol.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_SCHEMA = {
  type: 'object',
  properties: { resourceLogs: { type: 'array', items: { type: 'object' } } },
};

export const otlp: Protocol = {
  findKey: findQueryKey,
  events: {
    places: ['POST /v1/logs'],
    summary: 'Send log records by OpenTelemetry’s protocol',
    id: 'send_otlp_logs',
    bodies: [
      bodyOf(PROTOBUF, 'otlp-protobuf'),
      { ...bodyOf('application/json', 'otlp-json'), schema: JSON_SCHEMA },
    ],
    respond,
  },
};

/** Responds in the encoding of the request. */
function respond({ rejected, reasons }: Receipt, { headers }: ProtocolHead): ProtocolReply {
  const errorMessage = reasons.join('; ');
  if (String(headers['content-type']).startsWith(PROTOBUF)) {
    const partial = rejected === 0 ? {} : { partialSuccess: { rejectedLogRecords: rejected, errorMessage } };
    const type = typeOf('ExportLogsServiceResponse');
    return { status: 200, type: PROTOBUF, body: type.encode(type.fromObject(partial)).finish() };
  }
  // 64-bit integers are texts in OTLP's JSON.
  const body =
    rejected === 0 ? {} : { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage } };
  return { status: 200, type: 'application/json; charset=utf-8', body };
}

export const OTLP_FORMATS = {
  'otlp-json': {
    cut: (bytes, options) =>
      cutRequest(checkRequest(parseJson(decodeJson(bytes))), (record) => record, options),
    countMarks: countJsonMarks,
  },
  'otlp-protobuf': {
    isBinary: true,
    cut(bytes, options) {
      const request = readMessage(typeOf('ExportLogsServiceRequest'), bytes);
      return cutRequest(request as OtlpRequest<Uint8Array>, readRecord, options); // of these fields
    },
    // The tag of a string or message in one of the first seven fields: every record, attribute and value begins with one.
    countMarks: createMarkCounter('\x0a\x12\x1a\x22\x2a\x32\x3a'),
  },
} as const satisfies Readonly<Record<string, Format>>;

const LONG_INTEGER = /("int(?:V|_v)alue"\s*:\s*)(-?\d{16,19})(?=\s*[,}])/g;

/** Parses OTLP's JSON. An integer that a double cannot hold becomes the text that OTLP asks for. */
const parseJson = (text: string) => parseBody(text.replaceAll(LONG_INTEGER, '$1"$2"'), text);

const readRecord = (bytes: Uint8Array) => readMessage(typeOf('LogRecord'), bytes) as LogRecord; // of these fields

function cutRequest<T>(request: OtlpRequest<T>, read: (record: T) => LogRecord, options: CutOptions) {
  return lazyEvents(countRecords(request), otlpEvents(request, read), options);
}

// The messages of OTLP's logs service that we read and write, by the field numbers of the protocol.
const MESSAGES: Messages = {
  ExportLogsServiceRequest: { resourceLogs: [1, 'repeated ResourceLogs'] },
  ResourceLogs: { resource: [1, 'Resource'], scopeLogs: [2, 'repeated ScopeLogs'], schemaUrl: [3, 'string'] },
  Resource: {
    attributes: [1, 'repeated KeyValue'],
    droppedAttributesCount: [2, 'uint32'],
    entityRefs: [3, 'repeated EntityRef'],
  },
  EntityRef: { type: [2, 'string'] },
  ScopeLogs: {
    scope: [1, 'InstrumentationScope'],
    logRecords: [2, 'repeated LogRecord'],
    schemaUrl: [3, 'string'],
  },
  InstrumentationScope: {
    name: [1, 'string'],
    version: [2, 'string'],
    attributes: [3, 'repeated KeyValue'],
    droppedAttributesCount: [4, 'uint32'],
  },
  LogRecord: {
    timeUnixNano: [1, 'fixed64'],
    severityNumber: [2, 'int32'],
    severityText: [3, 'string'],
    body: [5, 'AnyValue'],
    attributes: [6, 'repeated KeyValue'],
    droppedAttributesCount: [7, 'uint32'],
    flags: [8, 'fixed32'],
    traceId: [9, 'bytes'],
    spanId: [10, 'bytes'],
    observedTimeUnixNano: [11, 'fixed64'],
    eventName: [12, 'string'],
  },
  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  AnyValue: {
    stringValue: [1, 'string'],
    boolValue: [2, 'bool'],
    intValue: [3, 'int64'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'ArrayValue'],
    kvlistValue: [6, 'KeyValueList'],
    bytesValue: [7, 'bytes'],
  },
  ArrayValue: { values: [1, 'repeated AnyValue'] },
  KeyValueList: { values: [1, 'repeated KeyValue'] },
  ExportLogsServiceResponse: { partialSuccess: [1, 'ExportLogsPartialSuccess'] },
  ExportLogsPartialSuccess: { rejectedLogRecords: [1, 'int64'], errorMessage: [2, 'string'] },
};

// Records stay bytes until each is read, so that one can be freed before the next.
const typeOf = createMessages({
  ...MESSAGES,
  ScopeLogs: { ...MESSAGES['ScopeLogs'], logRecords: [2, 'repeated bytes'] },
});

const INTEGER = /^-?(?:0|[1-9]\d{0,19})$/;
const DOUBLE = /^(?:-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN)$/;

interface Scalar {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const TEXT: Scalar = { expected: 'a string', accepts: (value) => typeof value === 'string' };
const NUMBER: Scalar = {
  expected: 'an integer',
  // JavaScript writes large ones with an exponent.
  accepts: (value) => (typeof value === 'string' ? INTEGER.test(value) : Number.isInteger(value)),
};

/** How OTLP's JSON writes the types of its fields. */
const SCALARS: Readonly<Record<string, Scalar>> = {
  string: TEXT,
  bytes: TEXT,
  bool: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  double: ofForm('a number', DOUBLE),
  int32: NUMBER,
  int64: NUMBER,
  uint32: NUMBER,
  fixed32: NUMBER,
  // A time that is not a number costs its record only: the rules of events reject it.
  fixed64: ofForm('an integer', /^/),
};

// Libraries that write protobuf as JSON write bytes in base64, and names of numbers.
const FORMS: Readonly<Record<string, Scalar>> = {
  traceId: ofForm('32 hexadecimal digits', /^(?:|[0-9a-fA-F]{32}|[\w+/-]{22}==)$/),
  spanId: ofForm('16 hexadecimal digits', /^(?:|[0-9a-fA-F]{16}|[\w+/-]{11}=)$/),
  severityNumber: ofForm('an integer, such as 17', new RegExp(`${SEVERITY_NAME.source}|${INTEGER.source}`)),
};

function ofForm(expected: string, form: RegExp): Scalar {
  return {
    expected,
    accepts: (value) => (typeof value === 'string' || typeof value === 'number') && form.test(String(value)),
  };
}

// An AnyValue within another adds up to four steps. Those beyond belong to an event that is rejected for its depth.
const STEPS_MAX = 500;

/**
 * Checks an OTLP request in JSON: what is not understood would be stored as nothing. Fields of later versions are ignored,
 * but not a message that has no others. Null becomes missing, and names such as `time_unix_nano`, which libraries that
 * write protobuf as JSON can write, those of OTLP's JSON. @throws TailraceError `invalid_request` with the place
 */
export function checkRequest(request: unknown): OtlpRequest<LogRecord> {
  checkMessage(request, 'ExportLogsServiceRequest', []);
  return request as OtlpRequest<LogRecord>; // just checked
}

/** The names and indexes that lead to a value. */
type Place = (string | number)[];

function checkMessage(message: unknown, type: string, place: Place): void {
  if (!isObject(message)) throw rejectAt(place, 'must be an object of the type', type);
  if (place.length > STEPS_MAX) return;
  const fields = FIELDS.get(type);
  const names = Object.keys(message);
  let known = 0;
  let present = 0;
  for (const name of names) {
    const field = fields?.get(name);
    if (field === undefined) continue;
    known++;
    const value = message[name] ?? undefined;
    message[value === undefined ? name : field.name] = value;
    if (value === undefined) continue;
    present++;
    place.push(name);
    checkField(value, field, place);
    place.pop();
  }
  if (names.length > 0 && known === 0) throw rejectAt(place, 'has no field of', type);
  if (present > 1 && type === ANY_VALUE) throw rejectAt(place, 'must have one value only, as an', type);
}

function checkField(value: unknown, { isList, scalar, type }: Field, place: Place): void {
  if (scalar !== undefined) {
    if (!scalar.accepts(value)) throw rejectAt(place, `must be ${scalar.expected}`);
    return;
  }
  const items = isList ? value : [value];
  if (!Array.isArray(items)) throw rejectAt(place, 'must be an array');
  for (let i = 0; i < items.length; i++) {
    if (isList) place.push(i);
    if (items[i] !== null || type !== ANY_VALUE) checkMessage(items[i], type, place);
    if (isList) place.pop();
  }
}

function rejectAt(place: Place, what: string, type = ''): TailraceError {
  const path = place.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const where = path === '' ? 'it' : path.slice(1, PLACE_CHARS_MAX);
  const hint = type === ANY_VALUE ? ', such as {"stringValue": "text"}' : '';
  const message = `the body is not an OTLP ExportLogsServiceRequest: ${where} ${what} ${type}`;
  return new TailraceError('invalid_request', message.trim() + hint);
}

const ANY_VALUE = 'AnyValue';
const REPEATED = 'repeated ';
const PLACE_CHARS_MAX = 500;

interface Field {
  /** As JSON has it. */
  readonly name: string;
  readonly isList: boolean;
  readonly scalar: Scalar | undefined;
  /** The name of a message, unless it is a scalar. */
  readonly type: string;
}

/** By message, then by the name of the field, as OTLP's JSON and as protobuf write it. */
const FIELDS = new Map(Object.entries(MESSAGES).map(([name, fields]) => [name, createFields(fields)]));

function createFields(fields: Messages[string]): ReadonlyMap<string, Field> {
  const entries = Object.entries(fields).flatMap(([name, [, written]]): [string, Field][] => {
    const type = written.replace(REPEATED, '');
    const field = { name, isList: written !== type, scalar: FORMS[name] ?? SCALARS[type], type };
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, snake].map((one) => [one, field]);
  });
  return new Map(entries);
}
