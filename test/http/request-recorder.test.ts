import { afterAll, expect, test } from 'vitest';
import { get, QUERY_PATH, readMetric } from '../support/http.ts';
import { rowsOf } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';

const OWN = 'tailrace-itself';
const service = await startTestService({ env: { TAILRACE_RECORD_REQUESTS_AS: OWN } });
afterAll(service.close);
const { url, core } = service;

/** What is recorded of paths that begin with `prefix`, as soon as it is there: nobody waits for it to be stored. */
async function waitForRecords(prefix: string, count: number): Promise<Record<string, unknown>[]> {
  const read = async () => {
    const rows = await rowsOf(core, OWN, { columns: 'event_message, path, status_code, metadata' });
    return rows.filter((row) => String(row['path']).startsWith(prefix));
  };
  await expect.poll(read).toHaveLength(count);
  return await read();
}

test('a request becomes an edge event of the project, without query string and key; recording it is not recorded', async () => {
  const headers = { 'x-request-id': 'req-1', 'x-api-key': 's3cret-key-of-somebody' };
  await get(url, '/nowhere/1?secret=s3cret', headers);
  const [row] = await waitForRecords('/nowhere/1', 1);
  expect(row).toMatchObject({ event_message: 'GET | 404 | /nowhere/1', status_code: 404 });
  expect(JSON.parse(String(row?.['metadata']))).toEqual({
    request: { method: 'GET', path: '/nowhere/1', host: new URL(url).host, id: 'req-1' },
    response: { status_code: 404, origin_time: expect.any(Number) },
  });
  const before = await rowsOf(core, OWN);
  expect(JSON.stringify(before)).not.toContain('s3cret');
  // Events are stored in their order: whatever the first record had led to would be there with the second.
  const path = `${QUERY_PATH}/usage.api-counts`;
  await get(url, `${path}?project=p1&interval=daily`);
  await waitForRecords(path, 1);
  expect(await rowsOf(core, OWN)).toHaveLength(before.length + 1);
});

test('what cannot be stored is counted, and costs nobody a response', async () => {
  const notRecorded = () => readMetric(url, 'tailrace_requests_not_recorded_total');
  const before = await notRecorded();
  await core.engine.command('RENAME TABLE tailrace.edge_logs TO tailrace.edge_logs_away');
  expect((await get(url, '/health')).status).toBe(200);
  await expect.poll(notRecorded).toBeGreaterThan(before);
  await core.engine.command('RENAME TABLE tailrace.edge_logs_away TO tailrace.edge_logs');
});
