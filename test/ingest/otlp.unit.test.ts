import { describe, expect, test } from 'vitest';
import { checkRequest } from '../../src/ingest/protocols/otlp.ts';
import { otlpEvents } from '../../src/ingest/protocols/otlp-events.ts';
import { cutEvents } from '../../src/ingest/wire-events.ts';

/** The event of a record in JSON. */
function eventOf(record: object): { event_message?: unknown; metadata: Record<string, unknown> } {
  const logRecords = [{}, { body: null, attributes: null }, record];
  const request = checkRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
  const [, , event] = [...otlpEvents(request, (message) => message)];
  if (event === undefined || !('text' in event)) throw new Error('there is no event');
  return JSON.parse(event.text);
}

test.each([
  ['', 17, 'error'],
  ['', '21', 'fatal'],
  ['', 'SEVERITY_NUMBER_WARN3', 'warn'],
  ['', 1, 'trace'],
  ['', 24, 'fatal'],
  ['', 25, undefined],
  ['', 0, undefined],
  ['Warn2', 0, 'warn'],
  ['ERROR3', 19, 'error'],
  ['DEBUG4', 8, 'debug'],
  ['30', 9, 'info'],
  ['30', 0, '30'],
  ['Warning', 17, 'warning'],
])('severity %j with the number %j is the level %j', (severityText, severityNumber, level) => {
  const { metadata } = eventOf({ severityText, severityNumber });
  expect([metadata['level'], metadata['severity_text'] ?? '']).toEqual([level, severityText]);
});

test.each([
  ['5B8EFFF798038103D269B633813FC60C', 'EEE19B7EC3C1B174'],
  ['W47/95gDgQPSabYzgT/GDA==', '7uGbfsPBsXQ='],
])('ids such as %s are stored as hexadecimal digits in lower case', (traceId, spanId) =>
  expect(eventOf({ traceId, spanId }).metadata).toMatchObject({
    ...{ trace_id: '5b8efff798038103d269b633813fc60c', span_id: 'eee19b7ec3c1b174' },
  }),
);

test.each([
  [{ stringValue: null, intValue: '7', later: 1 }, 7],
  [{ intValue: 1e21 }, 1e21],
  [{ doubleValue: '0.5' }, 0.5],
  [{ doubleValue: 'NaN' }, 'NaN'],
  [{ arrayValue: { values: [null, { kvlistValue: {} }] } }, [null, {}]],
])('%j is understood', (body, message) => expect(eventOf({ body }).event_message).toEqual(message));

test.each([
  ['{"bytes_value":null,"int_value":-9223372036854775808}', '-9223372036854775808'],
  ['{"arrayValue":{"values":[{"intValue" : 9223372036854775807}]}}', '[9223372036854775807]'],
  [
    String.raw`{"stringValue":"\"intValue\":9223372036854775807,"}`,
    String.raw`"\"intValue\":9223372036854775807,"`,
  ],
])('names of protobuf are understood, and integers are exact, in %s', (body, message) => {
  const request = `{"resource_logs":[{"resource":{"entityRefs":[{"type":"service","idKeys":["a"]}]},
    "scope_logs":[{"log_records":[{"time_unix_nano":"1795779392614213600","timeUnixNano":null,"body":${body}}]}]}]}`;
  const { events } = cutEvents(Buffer.from(request), 'otlp-json', { decodedBytesMax: 1_000 });
  expect([...events]).toMatchObject([
    {
      text: `{"timestamp":"1795779392614213600","event_message":${message},"metadata":{"attributes":{},"resource":{},"scope":{}}}`,
    },
  ]);
});

describe('what is not understood is rejected with its place', () => {
  const RECORD = 'resourceLogs[0].scopeLogs[0].logRecords[2]';
  const inList = (value: unknown) => ({ arrayValue: { values: [{}, value] } });
  test.each([
    [{ body: 'text' }, '.body must be an object of the type AnyValue, such as {"stringValue": "text"}'],
    [{ attributes: [{ key: 'a', value: 'A17' }] }, '.attributes[0].value must be an object'],
    [{ attributes: { a: 1 } }, '.attributes must be an array'],
    [{ attributes: [null] }, '.attributes[0] must be an object of the type KeyValue'],
    [{ body: { kvlistValue: [] } }, '.body.kvlistValue must be an object of the type KeyValueList'],
    [{ body: { arrayValue: [] } }, '.body.arrayValue must be an object'],
    [{ body: { arrayValue: { values: {} } } }, '.body.arrayValue.values must be an array'],
    [{ body: inList({ intValue: 1.5 }) }, '.body.arrayValue.values[1].intValue must be an integer'],
    [{ body: { intValue: 'x' } }, '.body.intValue must be an integer'],
    [{ body: { doubleValue: '' } }, '.body.doubleValue must be a number'],
    [{ body: { boolValue: 'true' } }, '.body.boolValue must be true or false'],
    [{ body: { stringValue: 5 } }, '.body.stringValue must be a string'],
    [{ body: { strValue: 'a' } }, '.body has no field of AnyValue'],
    [{ body: { stringValue: 'a', intValue: 1 } }, '.body must have one value only'],
    [{ severityNumber: '9},"project":"victim","a":{"b":1' }, '.severityNumber must be an integer'],
    [{ flags: '9},"a":{"b":1' }, '.flags must be an integer'],
    [{ traceId: 'EEE19B7EC3C1B174' }, '.traceId must be 32 hexadecimal digits'],
    [{ spanId: 'W47/95gDgQPSabYzgT/GDA==' }, '.spanId must be 16 hexadecimal digits'],
    [{ message: 'text' }, ' has no field of LogRecord'],
  ])('%j', (record, fault) => expect(() => eventOf(record)).toThrow(`: ${RECORD}${fault}`));

  test.each([
    [{ resourceLogs: [{ resource: [] }] }, 'resourceLogs[0].resource must be an object'],
    [{ resourceLogs: {} }, 'resourceLogs must be an array'],
    [{ resourceSpans: [] }, 'it has no field of ExportLogsServiceRequest'],
    [[], 'it must be an object of the type ExportLogsServiceRequest'],
  ])('%j', (request, fault) => expect(() => checkRequest(request)).toThrow(`: ${fault}`));
});
