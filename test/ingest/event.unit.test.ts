import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { createRegistry } from '../../src/definitions/registry.ts';
import type { Source } from '../../src/definitions/source.ts';
import { parseEvent, parseTimestamp } from '../../src/ingest/event.ts';
import { RejectedEvent } from '../../src/ingest/read-event.ts';
import { countNames, json, parseByHex, space } from '../support/json-text.ts';
import { runs } from '../support/property.ts';
import { createColumn, createSource } from '../support/source.ts';

const NOW = Date.UTC(2026, 10, 20, 7) * 1000;
const SOURCE = createSource({
  projectPaths: [['project'], ['metadata', 'project_ref'], ['metadata', 'project']],
  columns: [
    createColumn('status', 'integer', ['metadata', 'status']),
    createColumn('level', 'keyword', ['level']),
  ],
});

const parse = (text: string, eventBytesMax = 100_000) =>
  parseEvent({ text }, SOURCE, { now: NOW, eventBytesMax, project: '' });
/** Parses an event of a source that differs. */
const parseAs = (fields: Source | Partial<Source>, event: object) =>
  parseEvent({ text: JSON.stringify(event) }, { ...SOURCE, ...fields }, { now: NOW, project: '' });

describe('an event', () => {
  test('keeps its metadata exactly, on one line, with the last of equal names only', () => {
    fc.assert(
      fc.property(json, space, (metadata, around) => {
        const stored = parse(`{"id":"1","metadata":${around}${metadata}${around}}`).metadata;
        const read = parseByHex(metadata);
        expect(parseByHex(stored)).toEqual(read);
        expect(countNames(stored)).toBe(countNames(JSON.stringify(read)));
        const isSame = countNames(stored) === countNames(metadata);
        if (isSame) expect(stored).toBe(metadata.replaceAll(/[\r\n]/g, ' '));
      }),
      runs(1000),
    );
  });

  const keys = Array.from({ length: 3_000 }, (_, i) => `"k${i}":${i}`);
  test.each([
    ['{"a":1,"level":"info","a":1.0,"level":"error"}', '{"a":1.0,"level":"error"}'],
    [
      '{"a":{"x":1}, "b":[{"x":1,"y":{"x":2},"x":{"z":1,"z":2}}],"a":{"y":3}}',
      '{"b":[{"y":{"x":2},"x":{"z":2}}],"a":{"y":3}}',
    ],
    ['{"a":{"b":1},"\\u0061":{"b":2,"\\u0062":3},"c\\/d":1}', '{"\\u0061":{"\\u0062":3},"c\\/d":1}'],
    [`{${keys},"k5":"x"}`, `{${keys.toSpliced(5, 1)},"k5":"x"}`],
  ])('%.80s keeps the last of equal names, in its metadata and beside it', (text, kept) => {
    const { metadata, attributes, typed } = parse(`{"metadata":${text},"metadata":${text}}`);
    expect([metadata, attributes]).toEqual([kept, '']);
    expect(parseByHex(parse(text).attributes)).toEqual(parseByHex(kept)); // their names are written anew
    if (text.includes('level'))
      expect([typed, parse(text).typed]).toEqual([
        [null, null],
        [null, 'error'],
      ]);
  });

  test('of another protocol keeps the last of equal names', () => {
    const wire = { line: Buffer.from('{"message":"a","x":1,"\\u006dessage":"b","x":2}'), documentId: 'i' };
    const rules = { now: NOW, eventBytesMax: 1_000, project: '' };
    const { id, message, metadata } = parseEvent(wire, SOURCE, rules);
    expect([id, message, metadata]).toEqual(['i', 'b', '{"x":2}']);
  });

  test('keeps its other members exactly, in their order', () => {
    const text =
      '{"z":1.0,"id":"1","2":{"b":null,"a":[]},"project":"p","1":12345678901234567890,"é\\n":"\\u0041","level":"x"}';
    expect(parse(text).attributes).toBe(
      '{"z":1.0,"2":{"b":null,"a":[]},"1":12345678901234567890,"é\\n":"\\u0041","level":"x"}',
    );
    expect(parse('{"id":"1"}').attributes).toBe('');
  });

  test('has its message and id from the places that its source names, where it has none of its own', () => {
    const places = { messagePaths: [['metadata', 'msg'], ['log']], idPaths: [['metadata', 'uid'], ['uid']] };
    const read = (event: object) => {
      const { id, message } = parseAs(places, event);
      return [id, message];
    };
    expect(read({ metadata: { msg: 'm', uid: 7 }, log: 'l', uid: 'u' })).toEqual(['7', 'm']);
    expect(read({ metadata: { msg: null }, log: { a: 1 }, uid: 'u' })).toEqual(['u', '{"a":1}']);
    expect(read({ id: 'i', message: 'own', metadata: { msg: 'm', uid: 7 } })).toEqual(['i', 'own']);
  });

  test.each<[object, string | undefined]>([
    [{ time: '2026-11-20T06:00:00.5Z', ts: 5 }, '2026-11-20T06:00:00.500Z'],
    [{ time: 42, ts: Date.UTC(2026, 10, 20, 6) }, '2026-11-20T06:00:00Z'],
    [{ time: '12 ms', ts: { a: 1 }, '@timestamp': '2026-11-20 06:00:00' }, '2026-11-20T06:00:00Z'],
    [{ timestamp: '2026-11-20T05:00:00Z', time: '2026-11-20T06:00:00Z' }, '2026-11-20T05:00:00Z'],
    [{ timestamp: null, time: true, ts: null }, undefined],
  ])('%j has its time from the places that its source names', (event, iso) => {
    const timePaths = [['time'], ['ts'], ['@timestamp']];
    expect(parseAs({ timePaths }, event).timestamp).toBe(iso === undefined ? NOW : Date.parse(iso) * 1_000);
  });

  test.each([
    ['{"project":"a","metadata":{"project_ref":"b"}}', 'a'],
    ['{"project":"","metadata":{"project_ref":"b","project":"c"}}', 'b'],
    ['{"project":null,"metadata":{"project":"c"}}', 'c'],
    ['{"project":5}', ''],
    ['{"metadata":[{"project":"c"}]}', ''],
    ['{"metadata":{"__proto__":{"project":"c"}}}', ''],
  ])('%s belongs to the project %j', (text, project) => expect(parse(text).project).toBe(project));

  test.each([
    ['{"metadata":{"status":200},"level":"info"}', [200, 'info']],
    ['{"metadata":{"status":"200"},"level":1}', [null, null]],
    ['{"metadata":{"status":9007199254740993}}', [null, null]],
    ['{"metadata":{"__proto__":{"status":200}}}', [null, null]],
    ['{"__proto__":{"level":"x"}}', [null, null]],
  ])('%s has its typed values', (text, typed) => expect(parse(text).typed).toEqual(typed));

  test.each<[unknown, string | null]>([
    ...([10, 20, 30, 35, 40, 50, 60] as const).map((level, i): [number, string | null] => [
      level,
      ['trace', 'debug', 'info', 'info', 'warn', 'error', 'fatal'][i] ?? null,
    ]),
    [0, 'fatal'],
    [3, 'error'],
    [4, 'warn'],
    [6, 'info'],
    [7, 'debug'],
    ['30', 'info'],
    ['3', 'error'],
    ['WARNING', 'WARNING'],
    ['8', '8'],
    ['30x', '30x'],
    [8, 'other'],
    [70, 'other'],
    [-1, 'other'],
    [1.5, 'other'],
    [1e300, 'other'],
    [null, 'other'],
  ])('of the level %j has the level %j', (level, stored) => {
    const column = createColumn('level', 'keyword', ['level']);
    const columns = [{ ...column, otherPaths: [['lvl']], isLevel: true }];
    expect(parseAs({ columns }, { level, lvl: 'other' }).typed).toEqual([stored]);
  });

  test('keeps its id, or is given one of its own', () => {
    expect(parse('{"id":"x\\u0041"}').id).toBe('xA');
    expect(parse('{"id":12345678901234567890}').id).toBe('12345678901234567890');
    const ids = ['{}', '{"id":null}', '{"id":""}'].map((text) => parse(text).id);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(3);
  });

  test('happens from its source’s retention ago, exclusive, up to an hour ahead, inclusive', () => {
    const at = (micros: number) => `{"timestamp":${micros}}`;
    const oldest = NOW - 90 * 86_400_000_000;
    expect(parse('{"timestamp":null}').timestamp).toBe(NOW);
    expect(parse(at(oldest + 1)).timestamp).toBe(oldest + 1);
    const tooOld = 'is older than the 90 days that test.logs keeps: 2026-08-22 07:00:00.000000';
    expect(() => parse(at(oldest))).toThrow(new RejectedEvent(tooOld));
    expect(parse(at(NOW + 3_600_000_000)).timestamp).toBe(NOW + 3_600_000_000);
    const tooNew = 'has a timestamp more than an hour ahead: 2026-11-20 08:00:00.000001';
    expect(() => parse(at(NOW + 3_600_000_001))).toThrow(new RejectedEvent(tooNew));
  });

  const NO_TIME = /^has a timestamp that is neither ISO 8601 nor a count of s, ms, µs or ns since 1970$/;
  test.each([
    ['', /^is not valid JSON$/],
    ['[1]', /^is not a JSON object$/],
    ['{"timestamp":"yesterday"}', NO_TIME],
    ['{"timestamp":-1}', NO_TIME],
    [`{"timestamp":1e${'9'.repeat(10_000)}}`, NO_TIME],
    ['{"timestamp":9999999999999999999}', /^has a timestamp more than an hour ahead/],
    [`{"id":"${'x'.repeat(257)}"}`, /^has an id of more than 256 characters$/],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, /^is nested deeper than 100 levels$/],
    [`{"a":[${Array(10_001).fill('{"k":1}')}]}`, /^has more than 10000 keys$/],
    [`{"${'k'.repeat(1_001)}":1}`, /^has a key longer than 1000 characters$/],
  ])('%.40s is rejected', (text, message) => {
    expect(() => parse(text)).toThrow(RejectedEvent);
    expect(() => parse(text)).toThrow(message);
  });

  test.each(['x'.repeat(50), '😀'.repeat(15)])('larger than the limit in bytes is rejected: %s', (text) => {
    const event = JSON.stringify({ event_message: text });
    const bytes = Buffer.byteLength(event);
    expect(parse(event, bytes).message).toBe(text);
    expect(() => parse(event, bytes - 1)).toThrow(new RejectedEvent(`is larger than ${bytes - 1} bytes`));
  });
});

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const LOGS = createRegistry(definitions).getSource('logs');

// A `name` may be the event's own, such as a customer's.
test.each([
  [{ service: 'pay', hostname: 'h1', name: 'Ada' }, 'pay'],
  [{ name: 'Ada', hostname: 'h1' }, null],
])('in logs service and host are found: %j', (event, service) => {
  const { typed } = parseAs(LOGS, event);
  const stored = (name: string) => typed[LOGS.columns.findIndex((one) => one.name === name)];
  expect([stored('service'), stored('host')]).toEqual([service, 'h1']);
});

test.each<[string, number | undefined]>([
  ['"2026-11-20T07:00:00Z"', NOW],
  ['"2026-11-20T08:00:00+01:00"', NOW],
  ['1795158000', NOW],
  ['"1795158000.123456789"', NOW + 123_456],
  ['1795158000000000', NOW],
  ['1795158000000001999', NOW + 1],
  ['"1795158000"', NOW],
  ['20261120', 20_261_120_000_000],
  ['0', 0],
  ['1.795158E9', NOW],
  ['"1.7951580000000019e+18"', NOW + 1],
  ['17951580000.000019e-1', NOW + 1],
  ['0.01795158e11', NOW],
  ['1e400', undefined],
  ['-0e0', undefined],
  ['1e-9', undefined],
  ['99999999999999999999', undefined],
])('a timestamp %s is %s µs', (text, micros) => expect(parseTimestamp(text)).toBe(micros));

test('an event of a year whose day the engine cannot name is rejected, or retention would take it for another', () => {
  const source = { ...SOURCE, retentionDays: 36_500 };
  const on = (now: string, timestamp?: string) => () =>
    parseEvent({ text: JSON.stringify({ timestamp }) }, source, {
      now: Date.parse(now) * 1000,
      eventBytesMax: 1000,
      project: '',
    }).timestamp;
  const refusal = 'outside of the years that can be stored, 1970 to 2149-06-06';
  expect(on('2026-11-20', '1969-12-31T23:59:59.999999Z')).toThrow(refusal);
  expect(on('2026-11-20', '1970-01-01T00:00:00Z')()).toBe(0);
  expect(on('2149-06-06T23:30Z', '2149-06-06T23:59:59.999Z')()).toBeGreaterThan(0);
  expect(on('2149-06-06T23:30Z', '2149-06-07T00:00:00Z')).toThrow(refusal);
  expect(on('2200-01-01')).toThrow(refusal); // a clock that is wrong
});
