import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';
import { listDeclared } from '../../src/search/analysis/pairs.ts';
import { parseSearch } from '../../src/search/parse.ts';
import { printField } from '../../src/search/tree.ts';
import { isNumber } from '../../trial/oracle/number.ts';
import { findEvents, type SearchedEvent, textOf } from '../../trial/oracle/search.ts';
import { get } from '../support/http.ts';
import { storeSearched } from '../support/matched.ts';
import { SEED } from '../support/property.ts';
import { startTestService } from '../support/service.ts';

// `part=fields`, against an oracle on random events.
const nowMs = Date.UTC(2026, 10, 20, 12);
const EDGE = 'cloudflare.logs.prod';
const AUTH = 'gotrue.logs.prod';
const SOURCES = [EDGE, AUTH];
const { core, url, close } = await startTestService({ now: nowMs });
afterAll(close);

const random = createRandom(`fields ${SEED}`);
const any = <T>(items: readonly T[]): T => random.pick(items.map((item) => [item] as const))[0];
const TEXTS = ['a', "it's", '"q"', '\\', '', 'été', '\0', "'); DROP TABLE edge_logs; --", '5', '1e400'];

const events: SearchedEvent[] = Array.from({ length: 300 }, (_, i) => ({
  source: any(SOURCES),
  id: `e${i}`,
  timestamp: (nowMs - 1_000 - i) * 1_000,
  project: any(['aurora', 'borealis']),
  event_message: any(TEXTS),
  metadata: {
    request: { path: any(['/a', '/b', 7]), method: any(['GET', 'POST']), id: `r${i}` },
    response: { status_code: any([200, 404, 500, '500', null]), time: any([1, 2.5, '3', 'none', 40]) },
    level: any(['info', 'error', null]),
    status: any([200, 'x', undefined]),
    'a.b': { 'c "d': any(TEXTS), e: { f: { g: any([1, 2]), h: { deep: 1 } } } },
    list: any([[1], [], ['x']]),
    metadata: any([1, { x: true }]),
    source: any(['inner', {}]),
    long: 'é'.repeat(any([10, 600])),
  },
}));
await storeSearched(core, events, nowMs);

const ask = (parameters: Record<string, string>, headers = {}) =>
  get(
    url,
    `/api/search?${new URLSearchParams({ part: 'fields', source: SOURCES.join(), ...parameters })}`,
    headers,
  );

/** Paths of the values in a metadata, down to the fourth name. */
function listPaths(json: object, before: readonly string[] = []): (readonly [string, ...string[]])[] {
  return Object.entries(json).flatMap(([name, value]) => {
    const path = [...before, name] as const;
    const [first = '', ...rest] = path;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject) return path.length < 4 ? listPaths(value, path) : [];
    return [[first, ...rest] as const];
  });
}

const OF_ROW = ['source', 'project', 'level', 'id', 'timestamp', 'event_message', 'metadata'];

function namePath(path: readonly [string, ...string[]]): string {
  const [first] = path;
  const isHidden = first === 'metadata' || (path.length === 1 && OF_ROW.includes(first));
  return isHidden ? `metadata.${printField(path)}` : printField(path);
}

/** Fields of an event with their values. */
function describe(event: SearchedEvent): Map<string, string> {
  const source = core.registry.getSource(event.source);
  const found = new Map<string, string>();
  for (const name of listDeclared(source)) {
    const computed = COMPUTED[name]?.(event);
    const text = computed ?? textOf(event, source, name.split('.'));
    if (text !== null) found.set(name, text);
  }
  for (const path of listPaths(event.metadata)) {
    const text = textOf(event, source, ['metadata', ...path]);
    const name = namePath(path);
    if (!listDeclared(source).includes(name) && text !== null) found.set(name, cut(text));
  }
  return found;
}

const cut = (text: string) =>
  Buffer.byteLength(text) > 1024 ? `${[...text].slice(0, 256).join('')}…` : text;
const pathOfEvent = (event: SearchedEvent) => {
  const { request } = event.metadata as { request: { path: unknown } };
  return typeof request.path === 'string' ? request.path : '';
};
const hasPath = (part: string) => (event: SearchedEvent) => String(pathOfEvent(event).includes(part));
const COMPUTED: Readonly<Record<string, (event: SearchedEvent) => string>> = {
  is_rest: hasPath('/rest'),
  is_storage: hasPath('/storage'),
  is_auth: hasPath('/auth'),
  is_realtime: hasPath('/realtime'),
  names_project: ({ project }) => String(project !== ''),
};

function expectedRows(found: readonly SearchedEvent[]) {
  const values = new Map<string, string[]>();
  for (const event of found)
    for (const [name, text] of describe(event)) values.set(name, [...(values.get(name) ?? []), text]);
  return new Map(
    [...values].map(([field, texts]) => {
      const counts = Map.groupBy(texts, (text) => text);
      const top = [...counts]
        .map(([value, all]) => ({ value, count: all.length }))
        .toSorted((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)))
        .slice(0, 5);
      const numbers = texts
        .filter(isNumber)
        .map(Number)
        .toSorted((a, b) => a - b);
      const rank = (level: number) => numbers[Math.floor(level * numbers.length)];
      const isOfNumbers = numbers.length * 2 >= texts.length;
      const ranked = isOfNumbers
        ? { min: numbers[0], max: numbers.at(-1), p50: rank(0.5), p95: rank(0.95) }
        : { min: null, max: null, p50: null, p95: null };
      const coverage = expect.closeTo(texts.length / found.length, 5);
      return [field, { field, coverage, distinct: counts.size, top, ...ranked }];
    }),
  );
}

test.each(['', 'level:error', 'request.method:GET response.time:>2'])(
  'summarizes the fields of %j as an oracle does',
  async (q) => {
    const found = findEvents(events, core.registry.sources, parseSearch(q, 10));
    const answer = await ask({ q });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.has('x-sampled')).toBe(false);
    const rows = answer.body.result.filter(
      ({ field }) => !['address', 'request.url'].includes(String(field)),
    );
    const expected = expectedRows(found);
    expected.delete('address');
    expect(rows.map(({ field }) => field).toSorted()).toEqual([...expected.keys()].toSorted());
    for (const row of rows) expect(row).toEqual(expected.get(String(row['field'])));
  },
);

test('every field that is listed can be searched for by its name', async () => {
  const { body } = await ask({});
  for (const { field, top } of body.result) {
    const [first] = top as { value: string; count: number }[];
    if (first === undefined || first.value.endsWith('…')) continue;
    const q = `${field}:"${first.value.replaceAll(/["\\]/g, '\\$&')}"`;
    const counted = await get(
      url,
      `/api/search?${new URLSearchParams({ q, part: 'histogram', by: 'project', buckets: '1' })}`,
    );
    const sum = counted.body.result.reduce((all, row) => all + Number(row['count']), 0);
    expect(sum, q).toBe(first.count);
  }
});
