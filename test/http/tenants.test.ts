import { expect, test } from 'vitest';
import { tenantRounds } from '../../bench/tenants/rounds.ts';

// `npm run bench -- tenants --requests 1000000` is the same at length.
test('of 20 tenants none sees a row of another, whatever its key and its request', async () => {
  const seed = Date.now();
  const counts = await tenantRounds({ requests: 4_000, seed });
  expect(counts, `seed ${seed}`).toMatchObject({
    requests: 4_000,
    wrongRows: 0,
    wrongStatuses: 0,
    firstFault: '',
  });
  expect(counts.answers).toBeGreaterThan(300);
  expect(counts.hits).toBeGreaterThan(100);
}, 60_000);
