import type { AlertMessage } from '../../src/alerts/message.ts';

/** A message about two failing paths. */
export function alertMessage(fields: Partial<AlertMessage> = {}): AlertMessage {
  return {
    alert: 'checkout.errors',
    status: 'firing',
    severity: 'critical',
    text: '/orders failed 12 times',
    description: 'Checkout fails for customers.',
    at: '2026-11-20T12:00:00.000Z',
    since: '2026-11-20T11:58:00.000Z',
    instances: [
      { labels: { path: '/orders' }, values: { failures: 12 } },
      { labels: { path: '/carts' }, values: { failures: null } },
    ],
    link: 'https://logs.example.com/alerts?name=checkout.errors&a=1',
    runbook: 'https://wiki.example.com/checkout',
    ...fields,
  };
}
