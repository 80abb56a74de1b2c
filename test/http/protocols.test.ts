import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { writeHeader } from '../../src/lib/network.ts';
import { isRefusal } from '../../trial/fuzz/refusal.ts';
import { type TrialEvent, WIRES, type Wire } from '../../trial/wire.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type Body, post } from '../support/ingest.ts';
import { PROTOCOL_BODY_BYTES_MAX, PROTOCOL_PROJECT, shareProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

type Name = keyof typeof WIRES;

const service = await shareProtocolService();
const { url, clock, rows } = service;
const { keyring } = service.service;
const { key: reader } = await keyring.create({ name: 'reader', scopes: ['query'] });

/** The status of a request of which an event is rejected. */
const IN_PART: Readonly<Record<Name, number>> = { loki: 400, elasticsearch: 200, otlp: 200 };

const event = (project: string, id = 'x', timeMs = clock.now, message = ''): TrialEvent => ({
  ...{ id, timeMs, project, message, metadata: { status: 200 } },
});

function expectRefusal({ path }: Wire, { status, text }: HttpAnswer, ours: number): void {
  expect([status, text, isRefusal(path, status, text)]).toEqual([ours, expect.any(String), true]);
}

describe.each(Object.entries(WIRES) as [Name, Wire][])('a sender for %s', (name, wire) => {
  const send = (body: Body, headers: Record<string, string> = {}) =>
    post(url, wire.path, body, { 'content-type': wire.type, 'x-api-key': PUBLIC_KEY, ...headers });
  const body = wire.write([event('none')]);

  test.each<[string, number, Body, Record<string, string>]>([
    ['that its key is wrong', 401, body, { 'x-api-key': 'wrong' }],
    ['that its key has no scope for it', 403, body, { 'x-api-key': reader }],
    ['that there is no such source', 404, body, { 'x-source': 'no.such' }],
    // As ISO 8859-1 has it.
    ...['x-api-key', 'x-project', 'x-source', 'idempotency-key'].map(
      (header): [string, number, Body, Record<string, string>] => [
        `that ${header} is not UTF-8`,
        400,
        body,
        { [header]: 'caf\xe9' },
      ],
    ),
    [
      'that a body is too large',
      413,
      wire.write([event('none', 'x', clock.now, 'x'.repeat(PROTOCOL_BODY_BYTES_MAX))]),
      {},
    ],
    [
      'that a body is a bomb',
      413,
      new Uint8Array(gzipSync(Buffer.alloc(5_000_000, ' '))),
      { 'content-encoding': 'gzip' },
    ],
    [
      'that a body is cut short',
      400,
      new Uint8Array(gzipSync(body).subarray(0, 20)),
      { 'content-encoding': 'gzip' },
    ],
    ['that a body is in an unknown encoding', 415, body, { 'content-encoding': 'lzma' }],
  ])('hears in its own form %s: %i', async (_, status, bytes, headers) => {
    expectRefusal(wire, await send(bytes, headers), status);
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
    const messages = (await rows(PROTOCOL_PROJECT)).map((row) => String(row['event_message']));
    expect(messages.some((message) => message.startsWith(`by-${name} `))).toBe(true);
    const { key } = await keyring.create({ name: 'pinned', scopes: ['ingest'], pins: { project: own } });
    const headers = { 'x-api-key': key };
    expect((await send(wire.write([event('')]), headers)).status).toBe(wire.ok);
    // The name of the member that names the project may be written with an escape.
    const named = wire.write([event(other)]);
    for (const bytes of [named, named.replace('"project":', '"\\u0070roject":')]) {
      const answer = await send(bytes, headers);
      expect([answer.status, answer.text]).toEqual([
        IN_PART[name],
        expect.stringContaining('but the key sends for'),
      ]);
    }
    expectRefusal(wire, await send(body, { ...headers, 'x-project': other }), 403);
    expect([(await rows(own)).length, (await rows(other)).length]).toEqual([1, 0]);
  });

  test('with a key for some sources reaches only these', async () => {
    const project = newProject();
    const { key } = await keyring.create({ name: 'one', scopes: ['ingest'], sources: ['gateway.logs'] });
    const headers = { 'x-api-key': key, 'x-project': project };
    const one = wire.write([event(project)]);
    const answer = await send(one, headers);
    expect(answer.status).toBe(IN_PART[name]);
    expect(answer.text).toContain('belongs to no source that this key may send to');
    expect((await send(one, { ...headers, 'x-source': 'gateway.logs' })).status).toBe(wire.ok);
    expectRefusal(wire, await send(one, { ...headers, 'x-source': 'logs' }), 403);
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
