import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { afterAll, describe, expect, test } from 'vitest';
import { isRefusal } from '../../trial/fuzz/refusal.ts';
import { type TrialEvent, WIRES, type Wire } from '../../trial/wire.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type Body, post } from '../support/ingest.ts';
import { newProject, startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const quotas = join(folder.path, 'quotas.yaml');
const spentOf = (name: string) => `spent-${name}`;
await writeFile(
  quotas,
  `projects:\n${Object.keys(WIRES)
    .map((name) => `  ${spentOf(name)}: { events: 1 }\n`)
    .join('')}`,
);
const service = await startProtocolService({
  TAILRACE_BODY_BYTES_MAX: '200000',
  TAILRACE_DECODED_BYTES_MAX: '2000000',
  TAILRACE_QUOTAS_FILE: quotas,
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const { url, clock, rows } = service;
const { keyring } = service.service;
const { key: reader } = await keyring.create({ name: 'reader', scopes: ['query'] });

type Name = keyof typeof WIRES;

/** The statuses that a protocol has instead of ours. */
const OTHER_STATUS: Readonly<Partial<Record<Name, Readonly<Record<number, number>>>>> = {
  splunk: { 404: 400, 415: 400, 429: 503 },
};
/** The status of a request of which one event is stored and one is not. */
const IN_PART: Readonly<Record<Name, number>> = {
  ...{ loki: 400, elasticsearch: 200, splunk: 400, datadog: 400, vercel: 400, logpush: 400 },
  ...{ firehose: 200, heroku: 204, otlp: 200 },
};

const event = (project: string, message = 'x', timeMs = clock.now): TrialEvent => ({
  ...{ id: message, timeMs, project, message, metadata: { status: 200 } },
});

function expectRefusal(name: Name, { path }: Wire, { status, text }: HttpAnswer, ours: number): void {
  expect([status, text, isRefusal(path, status, text)]).toEqual([
    OTHER_STATUS[name]?.[ours] ?? ours,
    expect.any(String),
    true,
  ]);
}

describe.each(Object.entries(WIRES) as [Name, Wire][])(
  'a sender for %s hears in its own form',
  (name, wire) => {
    const send = (body: Body, headers: Record<string, string> = {}) =>
      post(url, wire.path, body, { 'content-type': wire.type, 'x-api-key': PUBLIC_KEY, ...headers });
    const body = wire.write([event('none')]);

    test.each<[string, number, Body, Record<string, string>]>([
      ['that it has no key', 401, body, { 'x-api-key': '' }],
      ['that its key is wrong', 401, body, { 'x-api-key': 'wrong' }],
      ['that its key has no scope for it', 403, body, { 'x-api-key': reader }],
      ['that there is no such source', 404, body, { 'x-source': 'no.such' }],
      ['that a body is too large', 413, wire.write([event('none', 'x'.repeat(250_000))]), {}],
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
    ])('%s: %i', async (_, status, bytes, headers) => {
      expectRefusal(name, wire, await send(bytes, headers), status);
    });

    test('that the quota of its project is spent, and until when', async () => {
      const project = spentOf(name);
      // Heroku's lines name no project.
      const headers = { 'x-project': project };
      const one = wire.write([event(project)]);
      expect((await send(one, headers)).status).toBe(wire.ok);
      const answer = await send(one, headers);
      expectRefusal(name, wire, answer, 429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    });

    test('that half of a batch is bad, and the other half is stored', async () => {
      const project = newProject();
      const tooLate = clock.now + 7_200_000;
      const half = [event(project, 'good-1'), event(project, 'bad', tooLate), event(project, 'good-2')];
      const answer = await send(wire.write(half), { 'x-project': project });
      expect(answer.status).toBe(IN_PART[name]);
      if (name !== 'heroku') expect(answer.text).toContain('ahead');
      expect((await rows(project)).map((row) => String(row['event_message']).slice(0, 6))).toEqual([
        'good-1',
        'good-2',
      ]);
    });
  },
);

test.each([
  ['less', -1],
  ['more', 1],
  ['much more', 60],
])('a block of Snappy that says it becomes %s than it does is 400', async (_, more) => {
  const block = compressSync(Buffer.alloc(60, 'x'));
  block[0] = (block[0] ?? 0) + more; // the length, in one byte
  const headers = { 'content-type': 'application/x-protobuf', 'x-api-key': PUBLIC_KEY };
  const answer = await post(url, '/loki/api/v1/push', new Uint8Array(block), headers);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Snappy')]);
});
