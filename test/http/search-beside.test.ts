import { expect, test } from 'vitest';
import type { SearchDraftView } from '../../src/management/workbench-view.ts';
import { parseSearch } from '../../src/search/parse.ts';
import type { SearchedEvent } from '../../trial/oracle/search.ts';
import { read } from '../support/http.ts';
import { createFindAtDoor } from '../support/matched.ts';
import { ownService, storeEvents } from '../support/service.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const { core, url } = await ownService({ now: nowMs });

// As an application writes its log, which has no `metadata`.
const PLAIN = { req: { url: '/book', 'user agent': 'x/1' }, took: 42, 'a.b': 'odd', größe: [3] };
const at = '2026-11-20T11:59:00Z';
const events = [
  { id: 'plain', timestamp: at, project: 'shop', message: 'booked', level: 'warn', ...PLAIN },
  { id: 'nested', timestamp: at, project: 'shop', metadata: { took: 7 }, req: { url: '/book' } },
  { id: 'empty', timestamp: at, project: 'shop', metadata: {}, took: 42 },
  { id: 'bare', timestamp: at, project: 'shop' },
];
await storeEvents(core, 'logs', events, nowMs);

const search = (parameters: Record<string, string>, path = '/api/search') =>
  read<SearchDraftView>(url, `${path}?${new URLSearchParams({ source: 'logs', ...parameters })}`);

test('a row of an event without metadata has the members beside it', async () => {
  const { result } = await search({});
  const shown = Object.fromEntries(result.map(({ id, metadata }) => [id, metadata]));
  const plain = { level: 'warn', ...PLAIN };
  expect(shown).toEqual({ plain, nested: { took: 7 }, empty: {}, bare: null });
});

const found: readonly [string, string[]][] = [
  ['req.url:/book', ['plain']],
  ['req."user agent":x*', ['plain']],
  ['"a.b":odd', ['plain']],
  ['größe:*', ['plain']],
  ['took:>=7', ['nested', 'plain']],
  ['level:warn metadata.took:42', ['plain']],
  ['metadata:*odd*', ['plain']],
  ['-took:*', ['bare', 'empty']],
];

test.each(found)('%s finds them, also at the door', async (q, ids) => {
  const { result } = await search({ q });
  expect(result.map(({ id }) => id).toSorted()).toEqual(ids);
  const tree = parseSearch(q, 10);
  const stored = { timestamp: Date.parse(at) * 1_000, source: 'logs' };
  const own = events.map((event) => ({ ...event, ...stored })) as unknown as SearchedEvent[];
  const find = createFindAtDoor(own, [core.registry.getSource('logs')], nowMs);
  const atDoor = tree && find(tree).map(({ id }) => id);
  expect(atDoor?.toSorted()).toEqual(ids);
});

test('level, program, machine, trace and time have their usual names', async () => {
  const event = {
    ...{ time: '2026-11-20T11:30:00.25Z', project: 'usual', severity: 'ERROR', app: 'pay' },
    ...{ hostname: 'h1', 'trace.id': 't1', msg: 'declined' },
  };
  await storeEvents(core, 'logs', [event], nowMs);
  const { result } = await search({ q: 'service:pay host:h1 trace_id:t1 level:error', project: 'usual' });
  const timestamp = Date.parse(event.time) * 1_000;
  expect(result).toMatchObject([{ timestamp, level: 'error', event_message: 'declined' }]);
});

test('they are fields, values and series', async () => {
  const { result: fields } = await search({ part: 'fields' });
  const names = fields.map(({ field }) => field);
  expect(names).toEqual(expect.arrayContaining(['took', 'req.url', '"a.b"']));
  const { result: values } = await search({ part: 'values', field: 'took' });
  expect(values).toEqual(['42', '7'].map((value) => ({ value, count: 1 })));
  const measured = { part: 'histogram', by: 'req.url', measure: 'sum(took)', buckets: '1' };
  const book = expect.objectContaining({ 'req.url': '/book', value: 42 });
  expect((await search(measured)).result).toContainEqual(book);
});

test.each<[string, Record<string, string>]>([
  ['rows', {}],
  ['values', { part: 'values', field: 'took' }],
])('an endpoint of %s has the same', async (_, parameters) => {
  const { sql, test: written } = await search({ q: 'took:*', ...parameters }, '/api/search/endpoint');
  expect(sql).toContain('attributes');
  expect(written).toContain('42');
});
