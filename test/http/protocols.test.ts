import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { writeHeader } from '../../src/lib/network.ts';
import { type TrialEvent, WIRES, type Wire } from '../../trial/wire.ts';
import { type Body, post } from '../support/http.ts';
import {
  BODY_BYTES_MAX,
  DEFAULT_PROJECT,
  expectRejection,
  shareProtocolService,
} from '../support/protocols.ts';
import { newProject, PUBLIC_KEY } from '../support/service.ts';

type Name = keyof typeof WIRES;

const service = await shareProtocolService();
const { url, clock, rows, newKey } = service;
const reader = await newKey();

/** The status of a request of which an event is rejected. */
const IN_PART: Readonly<Record<Name, number>> = { loki: 400, elasticsearch: 200, otlp: 200 };

const event = (project: string, id = 'x', timeMs = clock.now, message = ''): TrialEvent => ({
  ...{ id, timeMs, project, message, metadata: { status: 200 } },
});

const zip = (text: string) => new Uint8Array(gzipSync(text));
const GZIP = { 'content-encoding': 'gzip' };

const now = clock.now;
const DAY_MS = 86_400_000;
/** Out of range, or no times, in every protocol. */
const NEVER = ['never', '-1', `${now + 7_200_000}000000`, `${now - 91 * DAY_MS}000000`];
const timesOf = (stored: readonly unknown[], rejected: readonly unknown[]) => [
  ...[`${now}000000`, ...stored].map((time) => [time, true] as const),
  ...[...NEVER, ...rejected].map((time) => [time, false] as const),
];
/** Texts of Loki's times may have any unit; OTLP knows nanoseconds only, and that none is known. */
const TIMES = {
  loki: timesOf([`${now}`, `${now}000`, `${now / 1_000}`, now], ['']),
  elasticsearch: timesOf([now, `${now}`, now * 1_000, now / 1_000, new Date(now).toISOString(), null], []),
  otlp: timesOf(['0', ''], [`${now}`]),
};
const bulk = (...documents: object[]) =>
  documents.map((one) => `{"create":{}}\n${JSON.stringify(one)}\n`).join('');
const records = (...all: object[]) =>
  JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: all }] }] });
const attribute = (key: string, value: object) => ({ key, value });
const ofProject = (project: string) => attribute('tailrace.project', { stringValue: project });
const WITH_TIME: Readonly<Record<Name, (project: string, time: unknown) => string>> = {
  loki: (project, time) => JSON.stringify({ streams: [{ stream: { project }, values: [[time, 'x']] }] }),
  elasticsearch: (project, time) => bulk({ '@timestamp': time, project }),
  otlp: (project, time) => records({ timeUnixNano: time, attributes: [ofProject(project)] }),
};

describe.each(Object.entries(WIRES) as [Name, Wire][])('a sender for %s', (name, wire) => {
  const send = (body: Body, headers: Record<string, string> = {}) =>
    post(url, wire.path, body, { 'content-type': wire.type, 'x-api-key': PUBLIC_KEY, ...headers });
  const body = wire.write([event('none')]);

  test.each<[string, number, Body, Record<string, string>]>([
    ['that it has no key', 401, body, { 'x-api-key': '' }],
    ['that its key is wrong', 401, body, { 'x-api-key': 'wrong' }],
    ['that its key has no scope for it', 403, body, { 'x-api-key': reader }],
    ['that there is no such source', 404, body, { 'x-source': 'no.such' }],
    ['that a body is too large', 413, wire.write([event('none', 'x', now, 'x'.repeat(BODY_BYTES_MAX))]), {}],
    ['that a body is a bomb', 413, zip(' '.repeat(5_000_000)), GZIP],
    ['that a body is cut short', 400, zip(body).subarray(0, 20), GZIP],
    ['that a body has a type of another protocol', 415, body, { 'content-type': 'text/csv' }],
    ['that a body is in an unknown encoding', 415, body, { 'content-encoding': 'lzma' }],
  ])('hears in its own form %s: %i', async (_, status, bytes, headers) => {
    expectRejection(name, await send(bytes, headers), status);
  });

  // As ISO 8859-1 has it.
  test.each(['x-api-key', 'x-project', 'x-source', 'idempotency-key'])(
    'hears in its own form that %s is not UTF-8',
    async (header) => expectRejection(name, await send(body, { [header]: 'caf\xe9' }), 400),
  );

  test.each(TIMES[name])('with the time %j has its event stored: %j', async (time, isStored) => {
    const project = newProject();
    const answer = await send(WITH_TIME[name](project, time));
    expect(answer.status).toBe(isStored ? wire.ok : IN_PART[name]);
    const columns = 'toUnixTimestamp64Milli(timestamp) AS at';
    expect(await rows(project, { columns })).toEqual(isStored ? [{ at: clock.now }] : []);
    if (!isStored) expect(answer.text).toMatch(/timestamp|older than|levels|is not \[/);
  });

  test('has the good events of a batch stored beside the bad ones', async () => {
    const project = newProject();
    const tooLate = clock.now + 7_200_000;
    const half = [event(project, 'good-1'), event(project, 'bad', tooLate), event(project, 'good-2')];
    const answer = await send(wire.write(half), { 'x-project': project });
    expect(answer.status).toBe(IN_PART[name]);
    expect(answer.text).toContain('ahead');
    const stored = (await rows(project)).map((row) => String(row['event_message']).slice(0, 6));
    expect(stored).toEqual(['good-1', 'good-2']);
  });

  test('of no project sends for the default, and with a pinned project for no other', async () => {
    const [own, other] = [newProject(), newProject()];
    await send(wire.write([event('', `by-${name}`)]));
    const messages = (await rows(DEFAULT_PROJECT)).map((row) => String(row['event_message']));
    expect(messages.some((message) => message.startsWith(`by-${name} `))).toBe(true);
    const headers = { 'x-api-key': await newKey({ scopes: ['ingest'], pins: { project: own } }) };
    expect((await send(wire.write([event('')]), headers)).status).toBe(wire.ok);
    // The name of the member that names the project may be written with an escape.
    const named = wire.write([event(other)]);
    for (const bytes of [named, named.replace('"project":', '"\\u0070roject":')]) {
      const answer = await send(bytes, headers);
      expect(answer.status).toBe(IN_PART[name]);
      expect(answer.text).toContain('but the key sends for');
    }
    expectRejection(name, await send(body, { ...headers, 'x-project': other }), 403);
    expect([(await rows(own)).length, (await rows(other)).length]).toEqual([1, 0]);
  });

  test('with a key for some sources reaches only these', async () => {
    const project = newProject();
    const key = await newKey({ scopes: ['ingest'], sources: ['gateway.logs'] });
    const headers = { 'x-api-key': key, 'x-project': project };
    const one = wire.write([event(project)]);
    const answer = await send(one, headers);
    expect(answer.status).toBe(IN_PART[name]);
    expect(answer.text).toContain('belongs to no source that this key may send to');
    expect((await send(one, { ...headers, 'x-source': 'gateway.logs' })).status).toBe(wire.ok);
    expectRejection(name, await send(one, { ...headers, 'x-source': 'logs' }), 403);
    const tables = await Promise.all(['gateway_logs', 'logs'].map((table) => rows(project, { table })));
    expect(tables.map(({ length }) => length)).toEqual([1, 0]);
  });

  test('has events stored once that come again under the name of their request, which is UTF-8', async () => {
    const project = `${newProject()}-é漢`;
    const text = writeHeader(project);
    const headers = { 'idempotency-key': text, 'x-project': text };
    for (let i = 0; i < 3; i++)
      expect((await send(wire.write([event(project)]), headers)).status).toBe(wire.ok);
    expect(await rows(project)).toHaveLength(1);
  });
});
