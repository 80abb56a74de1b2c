import { expect, test } from 'vitest';
import type { Evaluate } from '../../src/alerts/evaluate.ts';
import { replay } from '../../src/alerts/replay.ts';
import { createAlert } from '../support/alert.ts';

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const alert = createAlert({ delay: 10, for: 60, per: ['path'], text: '{{ path }} fails' });
const { signal } = new AbortController();

/** An alert whose path fails from the fourth minute before the present to the second. */
const evaluate: Evaluate = async (_, { nowMs }) => {
  const minute = (nowMs + 10_000 - NOW_MS) / MINUTE_MS;
  const holding = minute >= -4 && minute <= -2 ? [{ labels: { path: '/a' }, values: {} }] : [];
  return { outcome: { kind: 'rows', holding } };
};

test('says what an alert would have sent in the time before now', async () => {
  const { ticks, fired, messages, firing } = await replay(
    alert,
    { untilMs: NOW_MS, sinceMs: 10 * MINUTE_MS },
    { evaluate, signal },
  );
  const sent = messages.map(({ at, text }) => `${(Date.parse(at) - NOW_MS) / MINUTE_MS} ${text}`);
  expect([ticks, fired, sent, firing]).toEqual([11, 1, ['-3 /a fails', '-1 Resolved: /a fails'], []]);
});

test('finds what fires at an instant by as many evaluations as `for` needs', async () => {
  const untilMs = NOW_MS - 2 * MINUTE_MS;
  const { ticks, firing } = await replay(alert, { untilMs }, { evaluate, signal });
  expect([ticks, firing.map(({ labels }) => labels)]).toEqual([2, [{ path: '/a' }]]);
});

test('rejects more evaluations than those of a week of minutes', async () => {
  const sinceMs = 8 * 86_400_000;
  await expect(replay(alert, { untilMs: NOW_MS, sinceMs }, { evaluate, signal })).rejects.toThrow(
    'is evaluated 11520 times in that time, one each 60 s; the most is 10080',
  );
});
