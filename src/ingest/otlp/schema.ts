import { createMessages, type Messages } from '../protocols/protobuf.ts';

// The messages of OTLP's logs service that we read and write, by the field numbers of the protocol.
export const MESSAGES: Messages = {
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
  // Of gRPC's richer errors: how long to wait before a call is repeated.
  Status: { code: [1, 'int32'], message: [2, 'string'], details: [3, 'repeated Any'] },
  Any: { typeUrl: [1, 'string'], value: [2, 'bytes'] },
  RetryInfo: { retryDelay: [1, 'Duration'] },
  Duration: { seconds: [1, 'int64'] },
};

// A value has exactly one of these; as a `oneof`, an empty text or a zero differs from a missing one.
export const ONEOFS: Readonly<Record<string, string>> = { AnyValue: 'value' };

const root = createMessages(MESSAGES, ONEOFS);

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

/** Writes the status of a failed gRPC call with the time after which to repeat it. */
export function encodeRetryStatus({
  status,
  message,
  retrySeconds,
}: {
  readonly status: number;
  readonly message: string;
  readonly retrySeconds: number;
}): Uint8Array {
  const retry = root
    .lookupType('RetryInfo')
    .encode({ retryDelay: { seconds: retrySeconds } })
    .finish();
  const details = [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value: retry }];
  return root.lookupType('Status').encode({ code: status, message, details }).finish();
}
