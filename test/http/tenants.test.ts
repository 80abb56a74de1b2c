import { expect, test } from 'vitest';
import { TENANT_BOUNDS, tenantEnv, tenantRounds } from '../../trial/tenants/rounds.ts';
import { SEED, scale } from '../support/property.ts';
import { ownFolder, ownService } from '../support/service.ts';

const nowMs = Date.UTC(2026, 10, 20, 12, 0, 1);
const folder = await ownFolder();
const { service, config } = await ownService({
  now: nowMs,
  env: await tenantEnv(folder.path),
  bounds: TENANT_BOUNDS,
});

// `npm run bench -- tenants --requests 1000000` is the same at length.
test('of 20 tenants none sees a row of another, whatever its key or session and its request', async () => {
  const requests = scale(4_000);
  const counts = await tenantRounds({ service, dataDir: config.dataDir, nowMs, requests, seed: SEED });
  expect(counts, `seed ${SEED}`).toMatchObject({ requests, wrongRows: 0, wrongStatuses: 0, firstFault: '' });
  expect(counts.answers).toBeGreaterThan(scale(150));
  expect(counts.hits).toBeGreaterThan(scale(50));
  expect(counts.rowsOfPeople).toBeGreaterThan(scale(1_000));
}, 240_000);
