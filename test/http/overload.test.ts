import { afterAll, expect, test, vi } from 'vitest';
import { copyEndpointsWithEndless } from '../support/endpoints.ts';
import { QUERY_PATH, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const endpoints = await copyEndpointsWithEndless();
const env = { TAILRACE_ENDPOINTS_DIR: endpoints.path };
const service = await startTestService({ env });
afterAll(async () => {
  await service.close();
  await endpoints.remove();
});
const { url, core } = service;

const untilRunning = (running: number) =>
  vi.waitFor(() => expect(core.engine.gauges()).toMatchObject({ running, queued: 0 }));

test.each(['endless.plain', 'endless.cached'])(
  'the last caller of %s that hangs up stops its query inside the engine',
  async (endpoint) => {
    const caller = new AbortController();
    const asked = request(url, `${QUERY_PATH}/${endpoint}?project=p1`, { signal: caller.signal });
    await untilRunning(1);
    caller.abort();
    await expect(asked).rejects.toThrow();
    await untilRunning(0);
  },
);
