import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { prepareAttacks } from '../../trial/attack/attack.ts';
import { cachedPath } from '../../trial/attack/bystander.ts';
import { createKey, type Target, tryAttack } from '../../trial/attack/trial.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { copyEndpoints } from '../support/endpoints.ts';
import { findEngineProcesses } from '../support/engine-process.ts';
import { get } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY, PUBLIC_KEY } from '../support/service.ts';

const folder = await ownFolder();
const endpoints = await copyEndpoints();
afterEach(endLeftProcesses);

const LOGS_OF = 'somebody';
// How often each is tried; `npm run bench -- attacks` has more of them.
const TRIALS = [
  // The first passes, and one after the first refusal.
  { short: 'tokens', times: 5, restartsMax: 2 },
  { short: 'crash', times: 2, restartsMax: 2 },
];

test('what one key does to the engine costs another no cached answer and no event, and no wait after a restart', async () => {
  const dataDir = join(folder.path, 'data');
  await mkdir(dataDir);
  const isChosen = (short: string) => TRIALS.some((trial) => trial.short === short);
  const attacks = await prepareAttacks(endpoints, dataDir, isChosen);
  const service = await startServe({
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_ENDPOINTS_DIR: endpoints,
    TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
    TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
    TAILRACE_QUERY_TIMEOUT_MS: '1500',
  });
  const { url, child } = service;
  const target: Target = {
    url,
    findEngine: () => findEngineProcesses(child.pid)[0],
    keys: {
      attacker: await createKey(url, PRIVATE_KEY, { name: 'attacker', scopes: ['query'] }),
      other: await createKey(url, PRIVATE_KEY, { name: 'other', scopes: ['query', 'ingest'] }),
      manage: PRIVATE_KEY,
    },
    logsOf: LOGS_OF,
    noticedMsMax: 8_000,
  };
  expect((await get(url, cachedPath(LOGS_OF))).status).toBe(200);
  for (const { short, times, restartsMax } of TRIALS) {
    const attack = attacks.find((one) => one.short === short);
    if (attack === undefined) throw new Error(`no attack is called ${short}`);
    const result = await tryAttack(target, attack, times);
    expect(result).toMatchObject({ cachedFailed: 0, failedOutside: [], lost: 0, doubled: 0, isReady: true });
    expect(result.restarts).toBeGreaterThan(0);
    expect(result.restarts).toBeLessThanOrEqual(restartsMax);
    expect(result.cached).toBeGreaterThan(0);
    expect(result.acknowledged).toBeGreaterThan(0);
    // Each restart is followed by an answer to both, before the next attack; how soon is for the benchmark to say.
    expect(Math.max(...result.queryMs, ...result.ingestMs)).toBeLessThan(15_000);
  }
  expect((await service.stop()).code).toBe(0);
}, 120_000);
