import { expect, test } from 'vitest';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import { openSender } from '../../../src/alerts/receivers/sender.ts';
import { alertMessage } from '../../support/alert-message.ts';
import { hasAlertmanager, startAlertmanager } from '../../support/alertmanager.ts';
import { createMemoryOutbox } from '../../support/memory-outbox.ts';

const RESEND_MS = 200; // instead of a minute

test.skipIf(!hasAlertmanager)(
  'Alertmanager lists what fires, again after it has lost it, until it is resolved',
  async () => {
    const alertmanager = await startAlertmanager();
    const outbox = createMemoryOutbox();
    const opened = RECEIVER_KINDS['alertmanager']?.open(
      { url: alertmanager.url },
      { isPrivate: true, lookup: undefined },
    );
    if (opened === undefined) throw new Error('no such kind');
    const receiver = { name: 'am', kind: 'alertmanager', ...opened, resendMs: RESEND_MS };
    const kinds: string[] = [];
    const sender = openSender({
      outbox,
      receivers: [receiver],
      now: Date.now,
      random: Math.random,
      watch: ({ kind }) => kinds.push(kind),
      pollMs: RESEND_MS,
    });
    const paths = async () => (await alertmanager.alerts()).map(({ labels }) => labels['path']).toSorted();
    try {
      // Labels and values as rows have them: names that Alertmanager does not know, no value, every sign.
      const { instances } = alertMessage();
      const odd = { labels: { path: '/ä "\n', 'a-b.c': 'x', '1': 'y', none: '' }, values: { 'p95-ms': 0.5 } };
      outbox.put('am', alertMessage({ instances: [...instances, odd] }), Date.now());
      sender.wake();
      await expect.poll(paths).toEqual(['/carts', '/orders', '/ä "\n']);
      const [, orders] = (await alertmanager.alerts()).toSorted((a, b) =>
        String(a.labels['path']) < String(b.labels['path']) ? -1 : 1,
      );
      expect(orders).toMatchObject({
        labels: { alertname: 'checkout.errors', severity: 'critical', path: '/orders' },
        annotations: { summary: '/orders failed 12 times', value_failures: '12', status: 'firing' },
        startsAt: '2026-11-20T11:58:00.000Z',
        status: { state: 'active' },
      });
      await alertmanager.kill();
      await expect.poll(() => kinds.at(-1), { timeout: 30_000 }).toBe('failed');
      await alertmanager.start();
      await expect.poll(paths, { timeout: 30_000 }).toEqual(['/carts', '/orders', '/ä "\n']);
      // Metrics report a receiver as failing until a try succeeds.
      await expect.poll(() => kinds.at(-1)).toBe('sent');
      const at = Date.now() * 1_000;
      outbox.put(
        'am',
        alertMessage({ status: 'resolved', at, instances: instances.slice(0, 1) }),
        Date.now(),
      );
      sender.wake('am');
      await expect.poll(paths).toEqual(['/carts', '/ä "\n']);
      const rest = [...instances.slice(1), odd];
      outbox.put('am', alertMessage({ status: 'resolved', at: at + 1, instances: rest }), Date.now());
      await expect.poll(paths).toEqual([]);
      await expect.poll(() => outbox.waiting.size).toBe(0);
    } finally {
      await sender.close();
      await alertmanager.close();
    }
  },
);
