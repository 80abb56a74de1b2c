import { expect, test } from 'vitest';
import { judge } from '../../src/alerts/condition.ts';
import type { Alert } from '../../src/definitions/alert.ts';
import { parseExactJson } from '../../src/lib/json.ts';

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

const nulls = (n: unknown) => [
  { id: 'a', n },
  { id: 'b', n: 6 },
];
const three = ['a', 'b', 'c'].map((id) => ({ id }));
test.each<[string, ReturnType<typeof judge>, string[], RegExp | undefined]>([
  [
    'a list beyond max_rows',
    judgeRows(ROWS, three, 2),
    ['a', 'b'],
    /more than max_rows, 2; the alert does not see/,
  ],
  ['a list as long as max_rows', judgeRows(ROWS, three, 3), ['a', 'b', 'c'], undefined],
  [
    'a value that is not a number',
    judgeRows(ABOVE, nulls(null)),
    ['b'],
    /^"n" is null or not a number in some rows/,
  ],
  ['a label that is null', judgeRows(ROWS, [{ id: null }]), [''], /^"id" is null in some rows/],
])('%s is bounded, and the history says so', (_, { outcome, notes }, ids, note) => {
  expect(outcome).toMatchObject({ holding: ids.map((id) => ({ labels: { id } })) });
  expect(notes).toEqual(note === undefined ? [] : [expect.stringMatching(note)]);
});
