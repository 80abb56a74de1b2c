import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';
import type { SearchedEvent } from '../../trial/oracle/search.ts';
import { get } from '../support/http.ts';
import { storeSearched } from '../support/matched.ts';
import { SEED } from '../support/property.ts';
import { startTestService, storeEvents } from '../support/service.ts';

// `part=fields`: random events, whose fields are searched for, and a field by hand.
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

test('a field has its coverage, its values and, if they are numbers, what is between them', async () => {
  const timestamp = new Date(nowMs - 86_400_000).toISOString();
  const sizes = [1, 2, 2, '3', 'none', 40, undefined, null];
  const own = sizes.map((size, i) => ({ id: `size-${i}`, timestamp, project: 'sizes', metadata: { size } }));
  await storeEvents(core, EDGE, own, nowMs);
  const from = new Date(nowMs - 2 * 86_400_000).toISOString();
  const { body, headers } = await ask({ project: 'sizes', from });
  expect(headers.has('x-sampled')).toBe(false);
  expect(body.result.find(({ field }) => field === 'size')).toEqual({
    ...{ field: 'size', coverage: 0.75, distinct: 5, min: 1, max: 40, p50: 2, p95: 40 },
    top: [{ value: '2', count: 2 }, ...['1', '3', '40', 'none'].map((value) => ({ value, count: 1 }))],
  });
});

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
