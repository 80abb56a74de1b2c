import { afterEach, expect, test, vi } from 'vitest';
import { type AlertTestParts, createAlertTests } from '../../src/management/alert-test.ts';
import type { Reach } from '../../src/management/alerts.ts';
import { createMemoryAlerts } from '../support/alert-store.ts';

afterEach(() => void vi.restoreAllMocks());

test('a test message behind one that the receiver does not accept says why that one waits', async () => {
  const alert = { id: 'a', name: 'a', endpoint: 'e', to: ['ops'], everyMs: 1_000, forMs: 0, text: 'a' };
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 6_000;
    return nowMs;
  });
  const { store: alerts } = createMemoryAlerts();
  await alerts.addMessage({ id: '0', alert: 'another', receiver: 'ops', message: '{}' }, 0);
  await alerts.postponeMessage('0', 1_000, 'returned 500');
  const parts = {
    control: { alerts },
    registry: { alerts: [alert], findEndpoint: () => ({ name: 'e', parameters: [] }) },
    ...{ now: () => 1, receivers: () => new Set(['ops']), findLink: () => undefined, newId: () => '' },
    evaluate: async () => ({ outcome: { kind: 'no rows' } }),
  } as unknown as AlertTestParts; // what a test of one alert needs
  const caller = { endpoints: undefined, pins: {} } as Reach; // not limited
  const { result } = await createAlertTests(parts).test(caller, 'a', new AbortController().signal);
  expect(result).toEqual({
    ops: 'not accepted yet: an earlier message waits: returned 500; it is retried for a day',
  });
});
