import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { copyEndpoints, ENDLESS_SQL } from '../support/endpoints.ts';
import { get, QUERY_PATH, readMetric } from '../support/http.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const endpoints = await copyEndpoints();
const env = {
  TAILRACE_DATA_DIR: join(folder.path, 'data'),
  TAILRACE_ENDPOINTS_DIR: endpoints.path,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
};
afterEach(endLeftProcesses);
afterAll(async () => {
  await folder.remove();
  await endpoints.remove();
});

const ENDLESS = { name: 'endless', id: 'a0000000-0000-4000-8000-000000000001', sql: ENDLESS_SQL } as const;
const EXTRA = { name: 'extra', id: 'a0000000-0000-4000-8000-000000000002', caching: 'disabled' } as const;
const ask = (url: string, name: string) => get(url, `${QUERY_PATH}/${name}?project=p1`);

describe('SIGTERM', () => {
  test('during a query that does not end stops it at the bound, answers its caller and exits 0', async () => {
    await addEndpoint(endpoints.path, { ...ENDLESS, caching: 'disabled' });
    const service = await startServe({ ...env, TAILRACE_SHUTDOWN_TIMEOUT_MS: '300' });
    const running = ask(service.url, 'endless');
    await vi.waitFor(async () => expect(await readMetric(service.url, 'tailrace_engine_running')).toBe(1), {
      timeout: 60_000,
    });
    const { code } = await service.stop();
    expect(code).toBe(0);
    expect((await running).body.error).toMatchObject({ code: 'engine_unavailable', status: 503 });
  });

  // Of the embedded engine: a server's query is the server's to end.
  test.skipIf(ON_SERVER)(
    'during a query that cannot be stopped ends the engine process, answers its caller and exits 0',
    async () => {
      // One call over one row, inside of which the engine looks at no limit: an hour, at least.
      const text = "replaceAll(materialize(repeat('a', 1000000)), 'a', 'aaaaaaaa')";
      const call = `position(${text}, concat(substring(${text}, 1, 4000000), 'b'))`;
      const sql = `SELECT toInt64(${call}) AS n FROM numbers(1) WHERE @project != ''`;
      await addEndpoint(endpoints.path, { ...EXTRA, sql });
      const service = await startServe({ ...env, TAILRACE_SHUTDOWN_TIMEOUT_MS: '300' });
      const running = ask(service.url, 'extra');
      await vi.waitFor(async () => expect(await readMetric(service.url, 'tailrace_engine_running')).toBe(1), {
        timeout: 60_000,
      });
      const { code } = await service.stop();
      expect(code).toBe(0);
      expect((await running).body.error).toMatchObject({ code: 'engine_unavailable', status: 503 });
      await rm(join(endpoints.path, 'extra'), { recursive: true });
    },
    120_000, // far below that hour
  );

  test('that comes again later ends a stop that takes too long', async () => {
    await addEndpoint(endpoints.path, { ...ENDLESS, caching: 'disabled' });
    const service = await startServe(env);
    const running = ask(service.url, 'endless').catch(() => 'cut off');
    await vi.waitFor(async () => expect(await readMetric(service.url, 'tailrace_engine_running')).toBe(1), {
      timeout: 60_000,
    });
    service.child.kill('SIGTERM');
    await service.waitFor(/"stopping"/);
    const again = setInterval(() => service.child.kill('SIGTERM'), 200);
    const { code } = await service.ended;
    clearInterval(again);
    expect([code, await running]).toEqual(['SIGTERM', 'cut off']);
  });
});

describe('new definitions', () => {
  test('are read on SIGHUP, all or nothing', async () => {
    const service = await startServe(env);
    const { url } = service;
    expect((await ask(url, 'extra')).status).toBe(404);
    await addEndpoint(endpoints.path, { ...EXTRA, sql: 'SELECT toInt64(1) AS n WHERE @project = @project' });
    service.child.kill('SIGHUP');
    await service.waitFor(/definitions reloaded/);
    expect((await ask(url, 'extra')).body).toEqual({ result: [{ n: 1 }] });

    await writeFile(
      join(endpoints.path, 'extra', 'query.sql'),
      'SELECT toInt64(2) AS n WHERE @project = @project',
    );
    await writeFile(join(endpoints.path, 'logs.all', 'query.sql.bak'), '');
    await addEndpoint(endpoints.path, { ...EXTRA, name: 'twice', sql: 'SELECT nonsense' });
    service.child.kill('SIGHUP');
    await service.waitFor(/definitions not reloaded/);
    expect(service.output().stderr).toContain('twice/endpoint.yaml');
    expect((await ask(url, 'extra')).body).toEqual({ result: [{ n: 1 }] });
    expect((await ask(url, 'twice')).status).toBe(404);

    await rm(join(endpoints.path, 'twice'), { recursive: true });
    service.child.kill('SIGHUP');
    await vi.waitFor(async () => expect((await ask(url, 'extra')).body).toEqual({ result: [{ n: 2 }] }), {
      timeout: 60_000,
    });
    expect((await service.stop()).code).toBe(0);
  });
});
