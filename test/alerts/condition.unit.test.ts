import { expect, test } from 'vitest';
import { judge } from '../../src/alerts/condition.ts';
import type { Alert } from '../../src/definitions/alert.ts';
import { parseExactJson } from '../../src/lib/json/exact.ts';

const BIG = '9007199254740993'; // 2^53 + 1, which a double rounds
const judgeText = (when: Alert['when'], text: string) =>
  judge({ when, per: ['id'] }, { rows: parseExactJson(text) as Record<string, unknown>[], maxRows: 100 });

test('integers beyond 2^53 name instances exactly, and are compared', () => {
  const rows = `[{"id":${BIG},"n":${BIG}},{"id":9007199254740992,"n":1}]`;
  const { outcome, seen } = judgeText({ kind: 'rows' }, rows);
  expect(outcome).toEqual({
    kind: 'rows',
    holding: [
      { labels: { id: BIG }, values: { n: BIG } },
      { labels: { id: '9007199254740992' }, values: { n: 1 } },
    ],
  });
  expect(seen).toEqual({ low: 2, high: 2 });
  const held = (when: Alert['when']) => {
    const judged = judgeText(when, rows);
    return [judged.outcome.kind === 'rows' && judged.outcome.holding.length, judged.seen];
  };
  const values = { low: 1, high: Number(BIG) };
  expect(held({ kind: 'above', column: 'n', value: 5 })).toEqual([1, values]);
  expect(held({ kind: 'below', column: 'n', value: 5 })).toEqual([1, values]);
  expect(held({ kind: 'equals', column: 'n', value: Number(BIG) })).toEqual([1, values]);
});

test('rows beyond max_rows do not count, and the history says so', () => {
  const rows = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  const alert = { when: { kind: 'rows' }, per: ['id'] } as const;
  const { outcome, notes } = judge(alert, { rows, maxRows: 2 });
  expect(outcome).toMatchObject({ holding: [{ labels: { id: 'a' } }, { labels: { id: 'b' } }] });
  expect(notes).toEqual(['the answer has more than max_rows, 2; the alert does not see the other rows']);
  expect(judge(alert, { rows, maxRows: 3 }).notes).toEqual([]);
});
