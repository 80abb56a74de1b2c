import { afterAll, describe, expect, test, vi } from 'vitest';
import { expectError, get, QUERY_PATH, readMetric } from '../support/http.ts';
import { openRaw, post, rowsOf, TO_EDGE } from '../support/ingest.ts';
import { startTestService } from '../support/service.ts';

const OWN = 'tailrace-itself';
const service = await startTestService({ env: { TAILRACE_RECORD_REQUESTS_AS: OWN } });
afterAll(service.close);
const { url, core } = service;

/** What is recorded of paths that begin with `prefix`. */
async function recorded(prefix: string) {
  const columns = 'event_message, method, path, address, status_code, metadata';
  const rows = await rowsOf(core, OWN, { columns });
  return rows.filter((row) => String(row['path']).startsWith(prefix));
}

/** The nth event of a path, as soon as it is there: nobody waits for it to be stored. */
async function waitForRecords(prefix: string, count: number): Promise<Record<string, unknown>[]> {
  return await vi.waitFor(
    async () => {
      const rows = await recorded(prefix);
      expect(rows).toHaveLength(count);
      return rows;
    },
    { timeout: 30_000 },
  );
}

test('a request becomes an edge event of the project, with method, path, status and time', async () => {
  const answer = await get(url, '/nowhere/1?secret=s3cret', { 'x-request-id': 'req-1' });
  expectError(answer, 'not_found');
  const [row] = await waitForRecords('/nowhere/1', 1);
  expect(row).toMatchObject({
    event_message: 'GET | 404 | /nowhere/1',
    method: 'GET',
    path: '/nowhere/1',
    address: `${OWN}/nowhere/1`,
    status_code: 404,
  });
  expect(JSON.parse(String(row?.['metadata']))).toEqual({
    request: { method: 'GET', path: '/nowhere/1', host: new URL(url).host, id: 'req-1' },
    response: { status_code: 404, origin_time: expect.any(Number) },
  });
});

test('neither query strings nor keys are recorded', async () => {
  await get(url, `${QUERY_PATH}/logs.all?project=s3cret`, { 'x-api-key': 's3cret-key-of-somebody' });
  await waitForRecords(`${QUERY_PATH}/logs.all`, 1);
  const all = await rowsOf(core, OWN);
  expect(JSON.stringify(all)).not.toContain('s3cret');
});

describe('the endpoints show them', () => {
  test('logs.all', async () => {
    await get(url, '/shown/in/logs');
    await waitForRecords('/shown/in/logs', 1);
    const { body } = await get(url, `${QUERY_PATH}/logs.all?project=${OWN}`);
    expect(body.result.map((row) => row['event_message'])).toContain('GET | 404 | /shown/in/logs');
  });

  test('usage.api-counts', async () => {
    await get(url, '/rest/v1/todos');
    await get(url, '/auth/v1/token');
    await waitForRecords('/auth/v1', 1);
    await waitForRecords('/rest/v1', 1);
    const { body } = await get(url, `${QUERY_PATH}/usage.api-counts?project=${OWN}&interval=daily`);
    const sum = (name: string) => body.result.reduce((n, row) => n + Number(row[name]), 0);
    expect([sum('total_rest_requests'), sum('total_auth_requests')]).toEqual([1, 1]);
  });
});

test('recording a request is not recorded itself', async () => {
  await get(url, '/last/1');
  await waitForRecords('/last/1', 1);
  const before = (await rowsOf(core, OWN)).length;
  // Events are stored in their order: whatever the first record had led to would be there with the second.
  await get(url, '/last/2');
  await waitForRecords('/last/2', 1);
  expect((await rowsOf(core, OWN)).length).toBe(before + 1);
});

test('answers from the cache are recorded like any other', async () => {
  const path = `${QUERY_PATH}/usage.api-counts`;
  const before = (await recorded(path)).length;
  for (let i = 0; i < 3; i++) await get(url, `${path}?project=p1&interval=daily`);
  await waitForRecords(path, before + 3);
});

test('events that are sent in are recorded as one request each', async () => {
  const before = (await recorded('/api/logs')).length;
  await post(url, TO_EDGE, [{ project: 'p' }, { project: 'p' }]);
  const rows = await waitForRecords('/api/logs', before + 1);
  expect(rows.at(-1)).toMatchObject({ event_message: 'POST | 200 | /api/logs' });
});

test('a path that is longer than an event may be is recorded cut short', async () => {
  const { socket, received } = await openRaw(url);
  const path = `/${'"'.repeat(250_000)}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 404/), 10_000);
  const [row] = await waitForRecords('/"', 1);
  expect(String(row?.['path'])).toBe(path.slice(0, 2_000));
  expect((await get(url, '/health')).status).toBe(200);
});

test('what cannot be stored is counted, and costs nobody an answer', async () => {
  const name = 'tailrace_requests_not_recorded_total';
  const before = await readMetric(url, name);
  await core.engine.command('RENAME TABLE tailrace.edge_logs TO tailrace.edge_logs_away');
  expect((await get(url, '/health')).status).toBe(200);
  await vi.waitFor(async () => expect(await readMetric(url, name)).toBeGreaterThan(before), 10_000);
  await core.engine.command('RENAME TABLE tailrace.edge_logs_away TO tailrace.edge_logs');
});
