import { expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { createRejectedRequestLog } from '../../src/telemetry/rejected-requests.ts';

test('requests are kept by reason, key and address; new addresses drop no other code', () => {
  let now = 0;
  const log = createRejectedRequestLog(() => ++now);
  const place = { method: 'GET', route: '/r', keyId: undefined };
  const add = (error: TailraceError, address: string, keyId?: string) =>
    log.add({ ...place, error, address, ...(keyId !== undefined && { keyId }) });
  add(new TailraceError('forbidden', 'no', { rejectReason: 'scope' }), '192.0.2.1', 'k');
  add(new TailraceError('forbidden', `no${'!'.repeat(9_000)}`, { rejectReason: 'scope' }), '192.0.2.1', 'k');
  add(new TailraceError('not_found', 'nothing is served here'), '192.0.2.1');
  for (let i = 0; i < 1_000; i++) add(new TailraceError('unauthorized', 'x'), `192.0.2.${i}`);
  const kinds = log.list();
  expect(kinds).toHaveLength(201);
  expect(kinds[0]).toMatchObject({ code: 'unauthorized', address: '192.0.2.999', count: 1 });
  const last = kinds.at(-1);
  expect(last).toMatchObject({ code: 'forbidden', reason: 'scope', keyId: 'k', count: 2, status: 403 });
  expect(last?.firstMs).toBeLessThan(last?.lastMs ?? 0);
  expect(last?.message).toHaveLength(500);
});
