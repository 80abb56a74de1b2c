import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { BodyFormat } from '../../src/ingest/body-format.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { RejectedEvent, readEvent } from '../../src/ingest/read-event.ts';
import { cutEvents } from '../../src/ingest/wire-events.ts';
import { runs } from '../support/property.ts';

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const rules = { now: NOW_MS * 1_000, eventBytesMax: 20_000, project: 'fallback' };

const name = fc.oneof(
  fc.constantFrom('level', 'service', 'service.name', 'project', 'message', 'host', 'trace_id', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constant('k'.repeat(1_001)),
);
const text = fc.oneof(fc.constantFrom('info', 'p', '', 'x'.repeat(30_000)), fc.string({ unit: 'binary' }));
const labels = fc.dictionary(name, text);

const loki = fc
  .record({
    stream: labels,
    values: fc.array(fc.tuple(fc.constantFrom(`${NOW_MS}000000`, 'never', '12'), text, labels)),
  })
  .map((stream) => JSON.stringify({ streams: [stream] }));

const { value } = fc.letrec<{ value: object; pair: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ intValue: fc.oneof(fc.maxSafeInteger(), fc.constant('9223372036854775807')) }),
    fc.record({
      doubleValue: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant('NaN')),
    }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('pair'), { maxLength: 3 }) }) }),
  ),
  pair: fc.record({ key: name, value: tie('value') }),
}));
const attributes = fc.array(fc.record({ key: name, value }), { maxLength: 5 });
const record = fc.record(
  {
    timeUnixNano: fc.constantFrom(`${NOW_MS}000000`, 0),
    severityNumber: fc.nat(24),
    severityText: fc.constantFrom('', 'WARN'),
    traceId: fc.constant('5b8efff798038103d269b633813fc60c'),
    body: value,
    attributes,
  },
  { requiredKeys: [] },
);
const otlp = fc
  .record({ resource: attributes, records: fc.array(record, { maxLength: 3 }) })
  .map(({ resource, records }) =>
    JSON.stringify({
      resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ logRecords: records }] }],
    }),
  );

test.each<[BodyFormat, fc.Arbitrary<string>]>([
  ['loki-json', loki],
  ['otlp-json', otlp],
])('an event that %s decodes is the one that its text says', (format, bodies) => {
  const property = fc.property(bodies, fc.constantFrom(...definitions.sources), (body, source) => {
    const read = (wire: Parameters<typeof parseEvent>[0]) => {
      try {
        return { ...parseEvent(wire, source, rules), id: '' };
      } catch (error) {
        if (error instanceof RejectedEvent) return error.message;
        throw error;
      }
    };
    for (const wire of cutEvents(Buffer.from(body), format, { decodedBytesMax: 1e9 }).events)
      expect(read(wire)).toEqual(read('text' in wire ? { text: wire.text } : wire));
  });
  fc.assert(property, runs(1_000));
});

const pair = (key: string, inner: object) => ({ key, value: inner });
const bodyOf = (body: object) => ({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body }] }] }] });
const USER = { kvlistValue: { values: [pair('user', { intValue: '12345678901234567890' })] } };

test.each<[BodyFormat, string]>([
  ['otlp-json', JSON.stringify(bodyOf({ kvlistValue: { values: [pair('by', USER)] } }))],
  ['elasticsearch-bulk', '{"create":{}}\n{"message": {"by": {"user":12345678901234567890}}}'],
])('columns of %s are also read from a message that is an object', (format, body) => {
  const [source] = definitions.sources;
  const paths = [
    ['event_message', 'by'],
    ['event_message', 'no'],
  ];
  const [wire] = cutEvents(Buffer.from(body), format, { decodedBytesMax: 1e9 }).events;
  if (source === undefined || wire === undefined) throw new Error('there is no source, or no event');
  const { at } = readEvent(wire, { ...source, idPaths: paths }, 1_000);
  expect(paths.map((path) => at(path))).toEqual([{ json: '{"user":12345678901234567890}' }, undefined]);
});
