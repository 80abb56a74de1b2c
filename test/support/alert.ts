import type { AlertMessage } from '../../src/alerts/message.ts';
import { ALERTS, type Alert } from '../../src/definitions/alert.ts';

/** An alert as its file would define it. */
export function createAlert(fields: Readonly<Record<string, unknown>>): Alert {
  const value = {
    ...{
      id: '5f1f3f0a-8c1e-4a52-9a58-0d6a2f6a4c11',
      name: 'failing',
      description: '',
      endpoint: 'failing.paths',
    },
    ...{ every: 60, when: 'rows', text: 'fails', to: ['ops'], ...fields },
  };
  const fault = () => ({ file: '', line: 1, message: '' });
  return ALERTS.create({ file: 'a.yaml', text: '', value, fault });
}

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
