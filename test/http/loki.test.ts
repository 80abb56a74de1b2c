import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import { parseLabels } from '../../src/ingest/protocols/loki-labels.ts';
import { type Body, post } from '../support/http.ts';
import { runs } from '../support/property.ts';
import { shareProtocolService } from '../support/protocols.ts';
import { newProject, PUBLIC_KEY } from '../support/service.ts';

// Loki's own description, so that a wrong number in ours cannot agree with itself.
const { root } = protobuf.parse(`
  syntax = "proto3";
  package logproto;
  message PushRequest { repeated StreamAdapter streams = 1; }
  message StreamAdapter { string labels = 1; repeated EntryAdapter entries = 2; uint64 hash = 3; }
  message EntryAdapter { Timestamp timestamp = 1; string line = 2; repeated LabelPairAdapter structuredMetadata = 3; }
  message LabelPairAdapter { string name = 1; string value = 2; }
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
`);
const REQUEST = root.lookupType('PushRequest');
const PATH = '/loki/api/v1/push';
const PROTOBUF = { 'content-type': 'application/x-protobuf' };

const service = await shareProtocolService();
const { url, clock, rows } = service;

const nanos = (agoMs = 0) => `${clock.now - agoMs}000000`;
const push = (body: Body, headers: Record<string, string> = {}) =>
  post(url, PATH, body, { 'x-api-key': PUBLIC_KEY, ...headers });
const stream = (labels: object, ...values: unknown[]) => ({ streams: [{ stream: labels, values }] });
const pushProtobuf = (streams: object[], headers: Record<string, string> = {}) => {
  const bytes = REQUEST.encode(REQUEST.fromObject({ streams })).finish();
  return push(new Uint8Array(compressSync(Buffer.from(bytes))), { ...PROTOBUF, ...headers });
};

/** A block whose head says so many bytes more than it has. */
function lyingSnappy(more: number) {
  const block = new Uint8Array(compressSync(Buffer.from('some text that is no push request')));
  block[0] = (block[0] ?? 0) + more;
  return block;
}

describe('a push to Loki', () => {
  test('of JSON is stored with labels and structured metadata, to the microsecond', async () => {
    const project = newProject();
    const time = `${clock.now}123456`;
    const labels = { project, app: 'shop', level: 'warn' };
    const answer = await push(stream(labels, [time, 'a "line"\n', { trace_id: 't1' }], [nanos(-1), 'ü']));
    expect([answer.status, answer.text]).toEqual([204, '']);
    const columns =
      'event_message, metadata, level, service, trace_id, toUnixTimestamp64Micro(timestamp) AS at';
    expect(await rows(project, { columns })).toEqual([
      {
        event_message: 'a "line"\n',
        metadata: `{"project":"${project}","app":"shop","level":"warn","trace_id":"t1"}`,
        ...{ level: 'warn', service: 'shop', trace_id: 't1', at: clock.now * 1_000 + 123 },
      },
      {
        event_message: 'ü',
        metadata: `{"project":"${project}","app":"shop","level":"warn"}`,
        ...{ level: 'warn', service: 'shop', trace_id: null, at: clock.now * 1_000 + 1_000 },
      },
    ]);
  });

  test('of protobuf is stored as the same events as of JSON', async () => {
    const project = newProject();
    const timestamp = { seconds: Math.floor(clock.now / 1_000), nanos: (clock.now % 1_000) * 1e6 };
    const entry = { timestamp, line: 'p', structuredMetadata: [{ name: 'user', value: 'ü"' }] };
    const labels = `{project="${project}", app="sh\\"op"}`;
    for (const headers of [{}, { 'content-encoding': 'snappy' }])
      expect((await pushProtobuf([{ labels, entries: [entry] }], headers)).status).toBe(204);
    const same = stream({ project, app: 'sh"op' }, [nanos(), 'p', { user: 'ü"' }]);
    const zipped = new Uint8Array(gzipSync(JSON.stringify(same)));
    expect((await push(zipped, { 'content-encoding': 'gzip' })).status).toBe(204);
    const stored = await rows(project, { columns: 'event_message, metadata, timestamp' });
    expect(stored).toHaveLength(3);
    expect(new Set(stored.map((row) => JSON.stringify(row))).size).toBe(1);
  });

  test.each([
    ['bytes that are not Snappy', new Uint8Array([5, 0xfc, 0xfa, 255, 255, 255])],
    ['Snappy of more than it says', lyingSnappy(-1)],
    ['Snappy of less than it says', lyingSnappy(1)],
    ['Snappy of 4 GB, as it says', new Uint8Array([255, 255, 255, 255, 15, 0])],
  ])('of %s is rejected in text', async (_, body) => {
    const answer = await push(body, PROTOBUF);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.text).toMatch(/Snappy/);
  });

  test('of protobuf with a line that is not UTF-8 is stored, the line repaired', async () => {
    const project = newProject();
    const timestamp = { seconds: Math.floor(clock.now / 1_000) };
    const entries = [
      { timestamp, line: 'bad line' },
      { timestamp, line: 'good' },
      { timestamp, line: '' },
    ];
    const request = REQUEST.fromObject({ streams: [{ labels: `{project="${project}"}`, entries }] });
    const bytes = Buffer.from(REQUEST.encode(request).finish());
    bytes[bytes.indexOf('bad line')] = 0xff;
    const answer = await push(new Uint8Array(compressSync(bytes)), PROTOBUF);
    expect([answer.status, answer.headers.get('x-events-repaired')]).toEqual([204, '1']);
    const messages = (await rows(project)).map((row) => row['event_message']);
    expect(messages).toEqual(['', 'good', '\ufffdad line']);
  });

  test('whose Snappy becomes too large is 413', async () => {
    const bomb = new Uint8Array(compressSync(Buffer.alloc(65 * 1024 * 1024)));
    expect((await push(bomb, PROTOBUF)).status).toBe(413);
  });

  test('takes its project from X-Scope-OrgID where it names none', async () => {
    const [tenant, own] = [newProject(), newProject()];
    const headers = { 'x-scope-orgid': tenant };
    await push(stream({}, [nanos(), 'tenant']), headers);
    await push(stream({ project: own }, [nanos(), 'own']), headers);
    const pinned = { 'x-api-key': await service.newKey({ scopes: ['ingest'], pins: { project: own } }) };
    const refused = await push(stream({}, [nanos(), 'x']), { ...headers, ...pinned });
    expect([refused.status, refused.text]).toEqual([403, `x-scope-orgid is pinned to "${own}" by the key`]);
    const other = await push(stream({ project: tenant }, [nanos(), 'x']), pinned);
    expect([other.status, other.text]).toMatchObject([400, expect.stringContaining('but the key sends for')]);
    expect([await rows(tenant), await rows(own)]).toMatchObject([
      [{ event_message: 'tenant' }],
      [{ event_message: 'own' }],
    ]);
  });
});

test('the labels of a stream are read as they are written', () => {
  const name = fc.stringMatching(/^[A-Za-z_]\w{0,9}$/);
  fc.assert(
    fc.property(fc.dictionary(name, fc.string({ unit: 'binary' })), (labels) => {
      const expected = Object.entries(labels).map(([key, value]) => [key, value.toWellFormed()]);
      const text = expected.map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      expect(Object.entries(parseLabels(`{${text.join(', ')}}`) ?? {}).sort()).toEqual(expected.sort());
    }),
    runs(300),
  );
});
