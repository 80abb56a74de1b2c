import { afterAll, expect, test, vi } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: endpoints.path,
    TAILRACE_READERS: '1',
    TAILRACE_QUERY_TIMEOUT_MS: '1500',
  },
});
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});

test.each(['endless.plain', 'endless.cached'])(
  'a query of %s that takes too long is stopped and answered 504, also one that only waited',
  async (endpoint) => {
    const ask = (project: string) => get(service.url, `${QUERY_PATH}/${endpoint}?project=${project}`);
    for (const answer of await Promise.all([ask('p1'), ask('p1'), ask('p2')])) {
      expectError(answer, 'query_timeout');
      expect(answer.body.error.message).toContain('1500 ms');
    }
    await vi.waitFor(() => expect(service.core.engine.gauges()).toMatchObject({ running: 0, queued: 0 }), {
      timeout: 10_000,
    });
    expect((await get(service.url, `${QUERY_PATH}/logs.all?project=p1`)).status).toBe(200);
  },
);
