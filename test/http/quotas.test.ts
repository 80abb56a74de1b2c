import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WIRES } from '../../trial/wire.ts';
import { expectError, get, post, readMetric } from '../support/http.ts';
import { expectRejection } from '../support/protocols.ts';
import { ownFolder, ownService, PRIVATE_KEY, PUBLIC_KEY, startTestService } from '../support/service.ts';

const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;

const folder = await ownFolder();
const FILE = join(folder.path, 'quotas.yaml');
await writeFile(FILE, 'projects: { busy: { events: 4 }, wide: { bytes: 10 } }\n');
const DATA = join(folder.path, 'data');
const settings = { TAILRACE_QUOTAS_FILE: FILE, TAILRACE_DATA_DIR: DATA };
const service = await ownService({ env: settings, now: START });
const { url, clock, core } = service;

const setQuotas = async (text: string) => {
  await writeFile(FILE, text);
  await core.reload();
};
const event = (project: string, metadata: object = { n: 1 }) => ({ project, metadata });
const send = (events: readonly object[], key = PUBLIC_KEY) =>
  post(url, '/api/logs?source=logs', events, { 'x-api-key': key });
const UNTIL = new Date(START + DAY_MS / 2).toISOString().slice(0, 10);

describe('a quota', () => {
  test('of a project lets the request pass that reaches it, and none after it until the next day', async () => {
    expect((await send(['busy', 'busy', 'busy'].map((one) => event(one)))).status).toBe(200);
    expect((await send([event('busy'), event('busy')])).status).toBe(200);
    const refused = await send([event('busy')]);
    expectError(refused, 'rate_limited', new RegExp(`more are accepted from ${UNTIL}T00:00:00`));
    expect(Number(refused.headers.get('retry-after'))).toBe(DAY_MS / 2 / 1000);
    expect(await readMetric(url, 'tailrace_rate_limited_total', { reason: 'quota' })).toBe(1);
    // Only the events of that project are rejected in a request with others.
    const answer = await send([event('busy'), event('other')]);
    const reason = /^event 1: belongs to the project "busy", which has spent its quota/;
    expect(answer.status).toBe(406);
    expect(answer.body).toEqual({ message: [expect.stringMatching(reason)] });
    // A sender of Elasticsearch's protocol sends again what has 429.
    const lines = ['busy', 'other'].map((project) => `{"create":{}}\n{"project":"${project}"}\n`).join('');
    const ndjson = { 'x-api-key': PUBLIC_KEY, 'content-type': 'application/x-ndjson' };
    const bulk = await post(url, '/_bulk', lines, ndjson);
    const { items } = JSON.parse(bulk.text) as { items: { create: { status: number } }[] };
    expect(items.map(({ create }) => create.status)).toEqual([429, 201]);
    const one = { id: 'x', timeMs: START, project: 'busy', message: '', metadata: {} };
    for (const [name, { path, type, write }] of Object.entries(WIRES)) {
      const headers = { 'x-api-key': PUBLIC_KEY, 'content-type': type };
      expectRejection(name as keyof typeof WIRES, await post(url, path, write([one]), headers), 429);
    }
    clock.now = START + DAY_MS;
    expect((await send([event('busy')])).status).toBe(200);
    clock.now = START;
  });

  test('of bytes counts message, metadata and other members', async () => {
    expect((await send([{ project: 'wide', event_message: 'ünf', metadata: { n: 1 } }])).status).toBe(200);
    expectError(await send([event('wide')]), 'rate_limited');
  });

  test('of a key applies before its body is read, by its id, after a reload; a file with faults changes nothing', async () => {
    await setQuotas('projects: { busy: { events: 100 } }\nkeys: { public: { events: 1 } }\n');
    const refused = await send([event('other')]);
    expectError(refused, 'rate_limited', /^the key has spent its quota of 1 events a day; more/);
    expect((await send([event('busy')], PRIVATE_KEY)).status).toBe(200);
    await expect(setQuotas('projects: { busy: { events: 0 } }\n')).rejects.toThrow('quotas.yaml');
    expectError(await send([event('other')]), 'rate_limited');
  });
});

describe('a quota of queries', () => {
  const ask = (parameters: Record<string, string>, key = PRIVATE_KEY) =>
    service.call('usage.by-project', parameters, { 'x-api-key': key });
  const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;

  test('of a project or key lets answers from the cache pass, and rejects others until the next day', async () => {
    const { id, key } = await service.service.keyring.create({ name: 'plan', scopes: ['query'] });
    await setQuotas(`projects: { asked: { queries: 2 } }\nkeys: { ${id}: { queries: 1 } }\n`);
    for (const days of ['1', '2', '2']) expect(await statusOf({ project: 'asked', days })).toBe(200);
    const refused = await ask({ project: 'asked', days: '3' });
    expectError(refused, 'rate_limited');
    expect(refused.body.error.message).toBe(
      `the project "asked" has spent its quota of 2 queries a day; more are accepted from ${UNTIL}T00:00:00.000Z`,
    );
    expect(await statusOf({ project: 'asked', days: '2' })).toBe(200);
    expect(await statusOf({ project: 'other', days: '3' })).toBe(200);
    expect(await statusOf({ days: '4' }, key)).toBe(200);
    expectError(await ask({ days: '5' }, key), 'rate_limited');
    for (const path of ['/api/search', '/api/search/endpoint'])
      expectError(await get(url, `${path}?project=asked`), 'rate_limited');
    clock.now = START + DAY_MS;
    expect(await statusOf({ project: 'asked', days: '3' })).toBe(200);
    clock.now = START;
  });

  test('counts a run in the workbench as a query of its key', async () => {
    const { id, key } = await service.service.keyring.create({ name: 'author', scopes: ['manage', 'query'] });
    await setQuotas(`keys: { ${id}: { queries: 1 } }\n`);
    const definition = 'name: draft\ndescription: A draft.\nmax_rows: 10\ncaching: disabled\n';
    const draft = { definition, sql: 'SELECT 1 AS n', values: {} };
    const run = () => post(url, '/api/workbench/run', draft, { 'x-api-key': key });
    const first = await run();
    expect(first.status, first.text).toBe(200);
    expectError(await run(), 'rate_limited');
  });
});

test('what was stored and asked outlives the service, and a project keeps its events for its own days', async () => {
  const env = { ...settings, TAILRACE_DATA_DIR: join(folder.path, 'again') };
  const at = (days: number) => new Date(START - days * DAY_MS).toISOString();
  const project = 'kept';
  const first = await startTestService({ env, now: START });
  const sendFirst = (events: object[]) => post(first.url, '/api/logs?source=logs', events);
  const ages = [0, 1, 2, 3, 4, 5, 6, 7, 8, 30];
  const old = ['short', 'other'].flatMap((one) =>
    ages.map((days) => ({ project: one, timestamp: at(days), metadata: { days } })),
  );
  for (const events of [[event(project), event(project), event(project)], old])
    expect((await sendFirst(events)).status).toBe(200);
  expect((await get(first.url, `/api/search?project=${project}`)).status).toBe(200);
  await first.close();
  const own = 'projects: { kept: { events: 3 }, short: { retention_days: 7 } }';
  await writeFile(FILE, `default: { queries: 1000 }\n${own}\n`);
  const second = await startTestService({ env, now: START + 1_000 });
  const daysOf = async (one: string) => {
    const { text } = await get(second.url, `/api/search?project=${one}&from=${at(40)}&until=${at(-1)}`);
    const { result } = JSON.parse(text) as { result: { metadata: { days: number } }[] };
    return result.map(({ metadata }) => metadata.days).toSorted((a, b) => a - b);
  };
  try {
    expectError(await post(second.url, '/api/logs?source=logs', [event(project)]), 'rate_limited');
    const { body: answer } = await second.call('usage.by-project', { project });
    const day = new Date(START).toISOString().slice(0, 10);
    expect(answer.result).toMatchObject([{ day, project, key: '', events: 3, bytes: 21, queries: 1 }]);
    const { body: byKey } = await second.call('usage.by-project', { project, by: 'key' });
    const asked = byKey.result.find(({ key }) => key === 'private');
    expect(asked?.['core_seconds']).toBeGreaterThan(0);
    // Whole days: that of 7 days ago began more than 7 days ago, but is not over for as long.
    await expect.poll(() => daysOf('short')).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await daysOf('other')).toEqual(ages);
    const trail = await second.service.keyring.log({ limit: 10 });
    expect(trail).toContainEqual(
      expect.objectContaining({
        ...{ action: 'deleted', actor: 'retention' },
        detail: expect.stringMatching(/^2 events of project "short" in logs, before .*T00:00:00.000000Z$/),
      }),
    );
  } finally {
    await second.close();
  }
});
