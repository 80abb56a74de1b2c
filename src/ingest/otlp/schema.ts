import protobuf from 'protobufjs/light.js';

/** Fields of a message: name → [number, type]; `repeated` before the type if there may be many. */
type Fields = Readonly<Record<string, readonly [number, string]>>;

// The messages of OTLP's logs service that we read and write, by the field numbers of the protocol.
const MESSAGES: Readonly<Record<string, Fields>> = {
  ExportLogsServiceRequest: { resourceLogs: [1, 'repeated ResourceLogs'] },
  ResourceLogs: { resource: [1, 'Resource'], scopeLogs: [2, 'repeated ScopeLogs'], schemaUrl: [3, 'string'] },
  Resource: { attributes: [1, 'repeated KeyValue'], droppedAttributesCount: [2, 'uint32'] },
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

// A value has exactly one of these; as a `oneof`, an empty text or a zero differs from a missing one.
const ONEOFS: Readonly<Record<string, string>> = { AnyValue: 'value' };

function createRoot(): protobuf.Root {
  const nested = Object.entries(MESSAGES).map(([name, fields]) => {
    const entries = Object.entries(fields).map(([field, [id, type]]) => {
      const repeated = type.startsWith('repeated ');
      return [field, { id, type: type.replace('repeated ', ''), ...(repeated && { rule: 'repeated' }) }];
    });
    const oneof = ONEOFS[name];
    const oneofs = oneof === undefined ? {} : { oneofs: { [oneof]: { oneof: Object.keys(fields) } } };
    return [name, { fields: Object.fromEntries(entries), ...oneofs }];
  });
  return protobuf.Root.fromJSON({ nested: Object.fromEntries(nested) });
}

const root = createRoot();

/** Reads an ExportLogsServiceRequest into the shape of its JSON encoding: 64-bit integers as texts, bytes as base64. */
export function decodeRequest(bytes: Uint8Array): unknown {
  const type = root.lookupType('ExportLogsServiceRequest');
  return type.toObject(type.decode(bytes), { longs: String, bytes: String });
}

/** Writes an ExportLogsServiceResponse; it is empty if nothing was rejected. */
export function encodeResponse(rejected: number, message: string): Uint8Array {
  const type = root.lookupType('ExportLogsServiceResponse');
  const partial =
    rejected === 0 ? {} : { partialSuccess: { rejectedLogRecords: rejected, errorMessage: message } };
  return type.encode(type.fromObject(partial)).finish();
}
