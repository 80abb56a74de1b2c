import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { addEndpoint } from '../../trial/endpoint.ts';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0' };
afterEach(endLeftProcesses);
afterAll(folder.remove);

describe('what keeps the service from starting is said in a line each, with exit 1', () => {
  const lines = (stderr: string) => stderr.trimEnd().split('\n');

  test('a source for OTLP records that is none', async () => {
    const { code, stderr } = await runCli(['serve'], { env: { ...env, TAILRACE_OTLP_SOURCE: 'no.such' } });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^tailrace: TAILRACE_OTLP_SOURCE: no source is called "no\.such"; there are .*postgres\.logs.*\n$/,
      ),
    ]);
  });

  test.skipIf(ON_SERVER)('a data directory that is a file, or lies below one', async () => {
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    for (const dataDir of [file, join(file, 'below')]) {
      for (const args of [['serve'], ['query', 'logs.all', '-p', 'project=p1']]) {
        const { code, stderr } = await runCli(args, { env: { ...env, TAILRACE_DATA_DIR: dataDir } });
        expect(code).toBe(1);
        expect(lines(stderr)).toEqual([
          `tailrace: data directory ${dataDir} cannot be used: it is a file, not a folder; set TAILRACE_DATA_DIR to a writable folder`,
        ]);
      }
      const { code, stderr } = await runCli(['keys', 'list'], {
        env: { ...env, TAILRACE_DATA_DIR: dataDir },
      });
      expect([code, lines(stderr).length]).toEqual([1, 1]);
    }
  });

  test('faulty definitions, all at once with file and line, for serve and check alike', async () => {
    const endpoints = await copyEndpoints();
    const id = 'a0000000-0000-4000-8000-000000000003';
    await addEndpoint(endpoints.path, {
      name: 'bad.sql',
      id,
      sql: 'SELECT 1 AS n FROM nowhere WHERE @project',
      caching: 1,
    });
    await addEndpoint(endpoints.path, { name: 'bad.names', id, sql: 'SELECT @unknown AS n', caching: -1 });
    await mkdir(join(endpoints.path, 'bad.empty'));
    const faulty = { ...env, TAILRACE_ENDPOINTS_DIR: endpoints.path };
    const check = await runCli(['check'], { env: faulty });
    const serve = await runCli(['serve'], { env: faulty });
    await endpoints.remove();
    expect([check.code, check.stdout, serve.code, serve.stdout]).toEqual([1, '', 1, '']);
    const told = lines(check.stderr);
    expect(told.map((line) => line.replace(`tailrace: ${endpoints.path}/`, ''))).toEqual([
      expect.stringMatching(/^bad\.empty\/endpoint\.yaml:1: is missing/),
      expect.stringMatching(/^bad\.empty\/query\.sql:1: is missing/),
      expect.stringMatching(/^bad\.names\/endpoint\.yaml:5: "caching" must be/),
      expect.stringMatching(/^bad\.names\/endpoint\.yaml:8: parameter "project" is declared but/),
      expect.stringMatching(/^bad\.names\/query\.sql:1: @unknown is not declared/),
      expect.stringMatching(/^bad\.sql\/endpoint\.yaml:1: id .* is already taken/),
      expect.stringMatching(/^bad\.sql\/query\.sql:1: .*nowhere/),
    ]);
    // Whether the engine takes the SQL is asked by serve only when the files themselves are in order.
    for (const line of lines(serve.stderr)) expect(told).toContain(line);
  });

  test('check finds no fault in the shipped definitions, also while a service holds the store', async () => {
    const service = await startServe(env);
    const check = await runCli(['check'], { env });
    expect([check.code, check.stdout]).toEqual([0, '4 endpoints, 12 sources and 3 dashboards, no faults\n']);
    expect((await service.stop()).code).toBe(0);
  });
});
