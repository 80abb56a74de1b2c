import { describe, expect, test } from 'vitest';
import { judge } from '../../src/alerts/condition.ts';
import type { Alert } from '../../src/definitions/alert.ts';
import { parseExactJson } from '../../src/lib/json/exact.ts';

const BIG = '9007199254740993'; // 2^53 + 1, which a double rounds
const ROWS = { kind: 'rows' } as const;
const ABOVE = { kind: 'above', column: 'n', value: 5 } as const;
type Rows = readonly Record<string, unknown>[];
const judgeRows = (when: Alert['when'], rows: Rows, maxRows = 100) =>
  judge({ when, per: ['id'] }, { rows, maxRows });

test('integers beyond 2^53 name instances exactly, and are compared', () => {
  const rows = parseExactJson(`[{"id":${BIG},"n":${BIG}},{"id":9007199254740992,"n":1}]`) as Rows;
  const { outcome, seen } = judgeRows(ROWS, rows);
  expect(outcome).toEqual({
    kind: 'rows',
    holding: [
      { labels: { id: BIG }, values: { n: BIG } },
      { labels: { id: '9007199254740992' }, values: { n: 1 } },
    ],
  });
  expect(seen).toEqual({ low: 2, high: 2 });
  const held = (when: Alert['when']) => {
    const judged = judgeRows(when, rows);
    return [judged.outcome.kind === 'rows' && judged.outcome.holding.length, judged.seen];
  };
  const values = { low: 1, high: Number(BIG) };
  expect(held(ABOVE)).toEqual([1, values]);
  expect(held({ ...ABOVE, kind: 'below' })).toEqual([1, values]);
  expect(held({ ...ABOVE, kind: 'equals', value: Number(BIG) })).toEqual([1, values]);
});

describe('an odd answer is bounded, and the history says so', () => {
  const labelsOf = (when: Alert['when'], rows: Rows, maxRows?: number) => {
    const { outcome, notes } = judgeRows(when, rows, maxRows);
    return {
      ids: outcome.kind === 'rows' ? outcome.holding.map(({ labels }) => labels['id']) : outcome,
      notes,
    };
  };
  const three = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];

  test.each<[string, ReturnType<typeof labelsOf>, unknown, string[]]>([
    [
      'rows beyond max_rows',
      labelsOf(ROWS, three, 2),
      ['a', 'b'],
      ['the answer has more than max_rows, 2; the alert does not see the other rows'],
    ],
    ['as many rows as max_rows', labelsOf(ROWS, three, 3), ['a', 'b', 'c'], []],
    [
      'more than 10,000 rows',
      labelsOf(ROWS, Array(10_001).fill({ id: 'a' }), 20_000),
      {
        kind: 'failed',
        reason: 'the answer has more than 10000 rows, so it was not read; add a LIMIT or max_rows',
      },
      [],
    ],
    [
      'a value that is not a number',
      labelsOf(ABOVE, [
        { id: 'a', n: null },
        { id: 'b', n: 6 },
      ]),
      ['b'],
      ['"n" is null or not a number in some rows, for which the condition does not hold'],
    ],
    [
      'a label that is null',
      labelsOf(ROWS, [{ id: null }, { id: 'b' }]),
      ['', 'b'],
      ['"id" is null in some rows, whose instances have it as an empty label'],
    ],
    [
      'a long label',
      labelsOf(ROWS, [{ id: 'é'.repeat(30_000) }]),
      ['é'.repeat(1_000)],
      ['values of "id" are longer than 1000 characters and were cut'],
    ],
  ])('%s', (_, { ids, notes }, expectedIds, expectedNotes) => {
    expect(ids).toEqual(expectedIds);
    expect(notes).toEqual(expectedNotes);
  });
});
