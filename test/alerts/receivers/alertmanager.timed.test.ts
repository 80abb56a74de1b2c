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
    const list = async () =>
      (await alertmanager.alerts()).toSorted((a, b) =>
        String(a.labels['path']).localeCompare(String(b.labels['path'])),
      );
    const paths = async () => (await list()).map(({ labels }) => labels['path']);
    try {
      // Labels and values as rows have them: names that Alertmanager does not know, no value, every sign.
      const { instances } = alertMessage();
      const odd = { labels: { path: 'ä "\n', 'a-b.c': 'x', '1': 'y', none: '' }, values: { 'p95-ms': 0.5 } };
      const all = ['/carts', '/orders', 'ä "\n'];
      outbox.put('am', alertMessage({ instances: [...instances, odd] }), Date.now());
      sender.wake();
      await expect.poll(paths).toEqual(all);
      expect((await list())[1]).toMatchObject({
        labels: { alertname: 'checkout.errors', severity: 'critical', path: '/orders' },
        annotations: { summary: '/orders failed 12 times', value_failures: '12', status: 'firing' },
        ...{ startsAt: '2026-11-20T11:58:00.000Z', status: { state: 'active' } },
      });
      await alertmanager.kill();
      await expect.poll(() => kinds.at(-1)).toBe('failed');
      await alertmanager.start();
      await expect.poll(paths).toEqual(all);
      const message = alertMessage({ status: 'resolved', at: Date.now() * 1_000 });
      outbox.put('am', { ...message, instances: [...instances, odd] }, Date.now());
      await expect.poll(paths).toEqual([]);
      await expect.poll(() => outbox.waiting.size).toBe(0);
    } finally {
      await sender.close();
      await alertmanager.close();
    }
  },
);
