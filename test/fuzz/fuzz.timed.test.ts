import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { fuzz } from '../../trial/fuzz/fuzz.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { get } from '../support/http.ts';
import { scale } from '../support/property.ts';
import { PRIVATE_KEY, PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterEach(endLeftProcesses);
afterAll(folder.remove);

// `npm run bench -- fuzz --inputs 200000` sends more.
const INPUTS = scale(3_000);
const MARKER = 'wrong-key-5Xq9';

test(`${INPUTS} random requests to every route: none fails for a fault of ours, hangs, or gets a key back`, async () => {
  const service = await startServe({
    TAILRACE_DATA_DIR: join(folder.path, 'data'),
    TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
    TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
    TAILRACE_LOG_LEVEL: 'trace',
    TAILRACE_REQUEST_TIMEOUT_MS: '2000',
  });
  const keys = { good: [PRIVATE_KEY, PUBLIC_KEY], marker: MARKER };
  const seed = 20_261_120;
  const { failures, byStatus, sent } = await fuzz({ url: service.url, keys, inputs: INPUTS, seed });
  expect(failures).toEqual([]);
  expect(sent).toBe(INPUTS);
  for (const status of [200, 400, 401, 403, 404, 405, 415]) expect(byStatus.get(status)).toBeGreaterThan(0);
  const metrics = await get(service.url, '/metrics');
  expect(metrics.status).toBe(200);
  expect((await service.stop()).code).toBe(0);
  const { stderr, stdout } = service.output();
  for (const secret of [...keys.good, MARKER])
    expect([stderr, stdout, metrics.text].some((text) => text.includes(secret))).toBe(false);
}, 120_000);
