import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { getEngineProcess, untilGone } from '../support/engine-process.ts';
import { get, QUERY_PATH } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PRIVATE_KEY: PRIVATE_KEY };
afterEach(endLeftProcesses);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'the engine process survives a %s that a terminal sends to both, until the service has closed it',
  async (signal) => {
    const service = await startServe(env);
    const engine = getEngineProcess(service.child.pid);
    process.kill(engine, signal);
    expect((await get(service.url, `${QUERY_PATH}/logs.all?project=p`)).status).toBe(200);
    const { code, stderr } = await service.stop(signal);
    expect(code).toBe(0);
    expect(stderr).not.toContain('the engine process ended');
    await untilGone(engine);
  },
);
