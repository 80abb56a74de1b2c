import type { AlertMessage } from '../../src/alerts/outbox.ts';

/** A message about two failing paths. */
export function alertMessage(fields: Partial<AlertMessage> = {}): AlertMessage {
  return {
    alert: 'checkout.errors',
    status: 'firing',
    severity: 'critical',
    text: '/orders failed 12 times',
    at: Date.UTC(2026, 10, 20, 12) * 1_000,
    since: Date.UTC(2026, 10, 20, 11, 58) * 1_000,
    instances: [
      { labels: { path: '/orders' }, values: { failures: 12 } },
      { labels: { path: '/carts' }, values: { failures: null } },
    ],
    link: 'https://logs.example.com/alerts?name=checkout.errors&a=1',
    ...fields,
  };
}
