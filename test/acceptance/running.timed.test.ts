import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
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
