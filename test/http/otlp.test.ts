import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { type Body, EDGE, get, post, rowsOf } from '../support/http.ts';
import { newProject, PUBLIC_KEY, shareService } from '../support/service.ts';

// OTLP's own description, cut to what the tests send, so that a wrong number in ours cannot agree with itself.
const { root } = protobuf.parse(`
  syntax = "proto3";
  package opentelemetry.proto.logs.v1;
  message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
  message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
  message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
  message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
  message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
  message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
  message LogRecord {
    fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2; string severity_text = 3;
    AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7; fixed32 flags = 8;
    bytes trace_id = 9; bytes span_id = 10; string event_name = 12;
  }
  message AnyValue { oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
  } }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
`);
const REQUEST = root.lookupType('ExportLogsServiceRequest');
const RESPONSE = root.lookupType('ExportLogsServiceResponse');
const PROTOBUF = 'application/x-protobuf';

const { url, core, clock } = await shareService();
const nanos = (ms = clock.now) => `${ms}000000`;
const text = (stringValue: string) => ({ stringValue });
const TRACE_ID = '5b8efff798038103d269b633813fc60c';
const SPAN_ID = 'eee19b7ec3c1b174';

/** A request of records that share resource and scope, in OTLP's JSON. */
const requestOf = (records: readonly object[], resource: readonly object[] = []) => ({
  resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ scope: {}, logRecords: records }] }],
});

/** The same request in protobuf: ids are bytes there. */
function toProtobuf(request: object): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(request, (name, value: unknown) =>
    (name === 'traceId' || name === 'spanId') && typeof value === 'string'
      ? Buffer.from(value, 'hex').toString('base64')
      : value,
  );
  return new Uint8Array(REQUEST.encode(REQUEST.fromObject(JSON.parse(json) as object)).finish());
}

const ENCODINGS = [
  ['JSON', 'application/json', (request: object): Body => request],
  ['protobuf', PROTOBUF, toProtobuf],
] as const;

const TO_EDGE = { 'x-api-key': PUBLIC_KEY, 'x-source': EDGE };
const send = (body: Body, type = 'application/json', headers = {}) =>
  post(url, '/v1/logs', body, { ...TO_EDGE, 'content-type': type, ...headers });

async function messagesOf(project: string): Promise<string[]> {
  const rows = await rowsOf(core, project, { columns: 'event_message' });
  return rows.map((row) => String(row['event_message'])).sort();
}

describe.each(ENCODINGS)('in %s', (_, type, encode) => {
  test('a record comes back through logs.all with all that it said', async () => {
    const project = newProject();
    const scope = { name: 'lib', version: '1.2', attributes: [{ key: 'a', value: { boolValue: true } }] };
    const record = {
      ...{ timeUnixNano: `${clock.now}123456`, observedTimeUnixNano: nanos(clock.now - 5_000) },
      ...{ severityNumber: 17, severityText: 'ERROR', body: text('é failed') },
      ...{ flags: 1, traceId: TRACE_ID, spanId: SPAN_ID, eventName: 'checkout' },
      attributes: [
        { key: 'tailrace.project', value: text(project) },
        { key: 'http.status', value: { intValue: '500' } },
      ],
    };
    const resource = { attributes: [{ key: 'service.name', value: text('shop') }] };
    const scopeLogs = [{ scope, logRecords: [record] }];
    expect((await send(encode({ resourceLogs: [{ resource, scopeLogs }] }), type)).status).toBe(200);
    const { body } = await get(url, `/api/endpoints/query/logs.all?project=${project}`);
    expect(body.result).toEqual([
      {
        ...{ id: expect.any(String), timestamp: clock.now * 1000 + 123, event_message: 'é failed' },
        metadata: {
          ...{ level: 'error', severity_text: 'ERROR', severity_number: 17, flags: 1 },
          ...{ trace_id: TRACE_ID, span_id: SPAN_ID, event_name: 'checkout' },
          attributes: { 'tailrace.project': project, 'http.status': 500 },
          resource: { 'service.name': 'shop' },
          scope: { name: 'lib', version: '1.2', attributes: { a: true } },
        },
      },
    ]);
  });

  test('values of every kind are kept exactly, of equal names the last', async () => {
    const project = newProject();
    const list = { values: [{ intValue: '1' }, {}, { arrayValue: { values: [text('a')] } }] };
    const nested = { key: '__proto__', value: { kvlistValue: {} } };
    const members = [{ key: '2', value: text('b') }, { key: '1' }, nested];
    const values = [
      [text('null \u0000 "é😀'), '"null \\u0000 \\"é😀"'],
      [{ boolValue: false }, 'false'],
      [{ intValue: '9007199254740993' }, '9007199254740993'],
      [{ intValue: '-9223372036854775808' }, '-9223372036854775808'],
      [{ doubleValue: 0.1 }, '0.1'],
      [{ bytesValue: 'AP8=' }, '"AP8="'],
      [{ arrayValue: list }, '[1,null,["a"]]'],
      [{ kvlistValue: { values: members } }, '{"2":"b","1":null,"__proto__":{}}'],
      [{}, 'null'],
    ] as const;
    const first = { key: 'k0', value: text('first') };
    const attributes = [first, ...values.map(([value], i) => ({ key: `k${i}`, value }))];
    const resource = [{ key: 'tailrace.project', value: text(project) }];
    expect((await send(encode(requestOf([{ attributes }], resource)), type)).status).toBe(200);
    const kept = values.map(([, json], i) => `"k${i}":${json}`);
    const metadata = `{"attributes":{${kept}},"resource":{"tailrace.project":"${project}"},"scope":{}}`;
    expect(await rowsOf(core, project, { columns: 'metadata' })).toEqual([{ metadata }]);
  });

  test("a record's project is its attribute, else its resource's, else that of X-Project", async () => {
    const [own, shared, header] = [newProject(), newProject(), newProject()];
    const attribute = (project: string) => [{ key: 'tailrace.project', value: text(project) }];
    const record = (body: string, attributes: object[] = []) => ({ body: text(body), attributes });
    const records = [record('1', attribute(own)), record('2'), record('3', attribute(''))];
    await send(encode(requestOf(records, attribute(shared))), type, { 'x-project': header });
    await send(encode(requestOf([record('4')])), type, { 'x-project': header });
    const stored = await Promise.all([own, shared, header].map(messagesOf));
    expect(stored).toEqual([['1'], ['2', '3'], ['4']]);
  });
});

test('the answer to protobuf is protobuf', async () => {
  const late = { timeUnixNano: nanos(clock.now + 7_200_000) };
  const reason = expect.stringMatching(
    /^event 2: has a timestamp more than an hour ahead: .*; event 3: has a/,
  );
  const ask = async (records: object[]) => {
    const response = await fetch(`${url}/v1/logs`, {
      method: 'POST',
      body: toProtobuf(requestOf(records)),
      headers: { 'content-type': PROTOBUF, 'x-api-key': PUBLIC_KEY },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, PROTOBUF]);
    return new Uint8Array(await response.arrayBuffer());
  };
  expect(await ask([{}])).toHaveLength(0);
  const decoded = RESPONSE.toObject(RESPONSE.decode(await ask([{}, late, late])), { longs: String });
  expect(decoded).toEqual({ partialSuccess: { rejectedLogRecords: '2', errorMessage: reason } });
});

test('a text of protobuf that is not UTF-8 is stored, repaired, and the other records as they are', async () => {
  const attributes = [{ key: 'tailrace.project', value: text('repaired-otlp') }];
  const request = requestOf([
    { timeUnixNano: nanos(), body: text('bad line'), attributes },
    { timeUnixNano: nanos(), body: text('gööd'), attributes },
  ]);
  const bytes = Buffer.from(toProtobuf(request));
  bytes[bytes.indexOf('bad line')] = 0xff;
  const headers = { 'content-type': PROTOBUF, 'x-api-key': PUBLIC_KEY };
  const answer = await post(url, '/v1/logs', new Uint8Array(bytes), headers);
  expect([answer.status, answer.headers.get('x-events-repaired')]).toEqual([200, '1']);
});
