import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import type { RejectedEventsView, RejectedRequestsView } from '../../src/management/admin-view.ts';
import { expectError, get, post, read } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const service = await ownService({ now: Date.UTC(2026, 10, 20, 12) });
const { url, core, clock } = service;
const { keyring } = service.service;

const makeKey = async (fields: Partial<NewKey>) => {
  const { key, record } = await keyring.create({ name: 'k', scopes: ['query', 'manage'], ...fields });
  return { key, id: record.id };
};
const send = (source: string, events: object | string, key: string) =>
  post(url, `/api/logs?source=${source}`, events, { 'x-api-key': key });

const aurora = await makeKey({ name: 'aurora', scopes: ['ingest'], pins: { project: 'aurora' } });
const basalt = await makeKey({ name: 'basalt', scopes: ['ingest'], pins: { project: 'basalt' } });
const ofAurora = await makeKey({ scopes: ['ingest', 'query', 'manage'], pins: { project: 'aurora' } });
const ofLogs = await makeKey({ sources: ['logs'] });
const ofEndpoints = await makeKey({ endpoints: ['logs.all'] });
const manageOnly = await makeKey({ scopes: ['manage'] });

describe('rejected events', () => {
  const list = async (key?: string) =>
    (await read<RejectedEventsView>(url, '/api/rejected-events', key)).result;

  test('are listed by source, reason and key, with the last of them', async () => {
    const old = { timestamp: '1901-01-01T00:00:00Z', event_message: 'of aurora' };
    expect((await send('logs', [old, old, { event_message: 'fine' }], aurora.key)).status).toBe(406);
    clock.now += 60_000;
    await send('logs', [{ project: 'cobalt' }], basalt.key);
    await send('cloudflare.logs.prod', [{ timestamp: 'never' }], aurora.key);
    const kinds = await list();
    expect(kinds).toMatchObject([
      { source: 'cloudflare.logs.prod', key: aurora.id, count: 1 },
      {
        ...{ source: 'logs', key: basalt.id, count: 1 },
        reason: 'names the project …, but the key sends for … only',
        last: { reason: expect.stringContaining('"cobalt"'), event: '{"project":"cobalt"}' },
      },
      {
        ...{ source: 'logs', key: aurora.id, count: 2, first_at: '2026-11-20T12:00:00.000Z' },
        reason: expect.stringMatching(/^is older than the \d+ days that logs keeps: …$/),
        last: { event: JSON.stringify(old) },
      },
    ]);
  });

  test('of other projects, sources and keys are not shown, nor values to keys that may not search', async () => {
    const shown = await list(ofAurora.key);
    expect(shown.map(({ source, key }) => [source, key])).toEqual([
      ['cloudflare.logs.prod', aurora.id],
      ['logs', aurora.id],
    ]);
    expect(JSON.stringify(shown)).not.toMatch(/cobalt|basalt/);
    const listed = await list(ofLogs.key);
    expect(listed.map(({ source }) => source)).toEqual(['logs', 'logs']);
    expect(listed.map(({ key }) => key)).toEqual([null, null]); // they may send to every source
    for (const { key } of [ofEndpoints, manageOnly])
      expect((await list(key)).map(({ last }) => last)).toEqual([null, null, null]);
  });

  test('of a source that redacts have no sample', async () => {
    const file = join(core.folders.sourcesDir, 'realtime.logs.prod.yaml');
    await writeFile(file, `${await readFile(file, 'utf8')}redact: [{ field: metadata.password }]\n`);
    await core.reload();
    await send('realtime.logs.prod', [{ timestamp: 'never', metadata: { password: 'hidden' } }], aurora.key);
    const [first] = await list();
    expect(first).toMatchObject({ source: 'realtime.logs.prod', last: { event: null } });
  });
});

test('rejected requests are listed with reason and address; limited keys see only those of keys that they may know of', async () => {
  const list = async (key?: string) =>
    (await read<RejectedRequestsView>(url, '/api/rejected-requests', key)).result;
  expectError(await get(url, '/api/keys', { 'x-api-key': 'tr_wrong' }), 'unauthorized');
  for (let i = 0; i < 2; i++)
    expectError(await get(url, '/api/keys', { 'x-api-key': aurora.key }), 'forbidden');
  expectError(await send('logs', '{', basalt.key), 'invalid_request');
  const kinds = await list();
  const find = (code: string, key: string | null) =>
    kinds.find((one) => one.code === code && one.key === key);
  expect(find('unauthorized', null)).toMatchObject({
    ...{ status: 401, reason: 'unknown', method: 'GET', route: '/api/keys', count: 1 },
    address: expect.stringMatching(/127\.0\.0\.1$/),
  });
  expect(find('forbidden', aurora.id)).toMatchObject({ reason: 'scope', count: 2 });
  expect(find('invalid_request', basalt.id)?.message).toMatch(/^the body is not valid JSON/);
  const shown = await list(ofAurora.key);
  expect(new Set(shown.map(({ key }) => key))).toEqual(new Set([aurora.id]));
  for (const { message } of [...shown, ...(await list(manageOnly.key))]) expect(message).toBeNull();
});
