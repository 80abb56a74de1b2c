import { expect, test } from 'vitest';
import type { Overview } from '../../src/management/admin-view.ts';
import { EDGE, get, post, QUERY_PATH, readMetric, TO_EDGE } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const service = await ownService();
const { url, clock } = service;

async function readOverview(): Promise<Overview> {
  return JSON.parse((await get(url, '/api/overview')).text) as Overview;
}

const scrape = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  readMetric(url, `tailrace_${name}`, labels);

/** Requests of every kind, and events of every kind. */
async function cause(): Promise<void> {
  const counts = `${QUERY_PATH}/usage.api-counts?interval=daily`;
  for (const project of ['p1', 'p1', 'p2', 'p1']) await get(url, `${counts}&project=${project}`);
  await get(url, `${counts}&project=p1`, { 'cache-control': 'no-store' });
  await get(url, `${QUERY_PATH}/usage.api-counts?project=p1&interval=never`);
  await get(url, counts);
  await get(url, `${QUERY_PATH}/logs.all?project=p1`);
  await get(url, `${QUERY_PATH}/nothing`);
  await get(url, '/nowhere');
  await post(url, TO_EDGE, [{ project: 'p1' }, { project: 'p1' }, {}, 'no event']);
}

test('the overview says what a scrape says', async () => {
  await readOverview(); // sizes of before are kept
  await cause();
  clock.now += 6_000; // and are too old by now
  const { endpoints, sources, store } = await readOverview();

  for (const shown of endpoints) {
    const endpoint = shown.name;
    expect(shown.requests).toBe(await scrape('http_requests_total', { endpoint }));
    expect(shown.minutes.reduce((sum, { requests }) => sum + requests, 0)).toBe(shown.requests);
    expect(shown.failures).toBe(await scrape('failures_total', { endpoint }));
    for (const [code, count] of Object.entries(shown.failure_codes))
      expect(count).toBe(await scrape('failures_total', { endpoint, code }));
    expect(shown.rows).toBe(await scrape('rows_returned_total', { endpoint }));
    const answers = await scrape('answers_total', { endpoint });
    const hits = await scrape('answers_total', { endpoint, cache: 'hit' });
    expect(shown.hit_ratio).toBe(endpoint === 'logs.all' || answers === 0 ? null : hits / answers);
  }
  expect(endpoints.find(({ name }) => name === 'usage.api-counts')).toMatchObject({
    requests: 7,
    failures: 2,
  });

  for (const shown of sources) {
    const source = shown.name;
    expect(shown.rows).toBe(await scrape('stored_rows', { source }));
    expect(shown.bytes).toBe(await scrape('stored_bytes', { source }));
    expect(shown.minutes.reduce((sum, events) => sum + events, 0)).toBe(
      await scrape('events_stored_total', { source }),
    );
    expect(shown.without_project).toBe(await scrape('events_without_project_total', { source }));
  }
  expect(sources.find(({ name }) => name === EDGE)).toMatchObject({ rows: 3, without_project: 1 });
  expect(store).toMatchObject({ rows: await scrape('stored_rows'), bytes: await scrape('stored_bytes') });
});
