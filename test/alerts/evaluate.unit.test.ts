import { expect, test } from 'vitest';
import { createEvaluate, judge } from '../../src/alerts/evaluate.ts';
import type { Alert } from '../../src/definitions/alert.ts';
import { parseExactJson } from '../../src/lib/json.ts';
import type { Run } from '../../src/query/run.ts';
import { createAlert } from '../support/alert.ts';
import { CACHED } from '../support/cached-endpoint.ts';

const BIG = '9007199254740993'; // 2^53 + 1, which a double rounds
const ROWS = { kind: 'rows' } as const;
const ABOVE = { kind: 'above', column: 'n', value: 5 } as const;
type Rows = readonly Record<string, unknown>[];
const judgeRows = (when: Alert['when'], rows: Rows) => judge({ when, per: ['id'] }, rows);

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

test('a value that is not a number does not hold, and a label that is null is empty', () => {
  const holding = (ids: readonly string[]) => ({ holding: ids.map((id) => ({ labels: { id } })) });
  const rows = [
    { id: 'a', n: null },
    { id: 'b', n: 6 },
    { id: null, n: 7 },
  ];
  expect(judgeRows(ABOVE, rows).outcome).toMatchObject(holding(['b', '']));
});

test('an answer with too many rows was not read', () => {
  const rows = Array.from({ length: 10_001 }, (_, id) => ({ id }));
  const reason = expect.stringMatching('more than 10000 rows');
  expect(judgeRows(ROWS, rows).outcome).toEqual({ kind: 'failed', reason });
});

test('evaluations of the same parameters at the same instant share one query, others do not', async () => {
  const asked: unknown[] = [];
  const run: Run = async (_, options) => {
    asked.push(options?.instantMs);
    await Promise.resolve();
    return { body: Buffer.from('{"result":[{"id":"a","n":9}]}') } as Awaited<ReturnType<Run>>;
  };
  const evaluate = createEvaluate({ registry: { getEndpoint: () => CACHED }, run });
  const alertOf = (value: number) =>
    createAlert({ endpoint: CACHED.name, when: { column: 'n', above: value } });
  const judged = await Promise.all([
    evaluate(alertOf(5), { nowMs: 1 }),
    evaluate(alertOf(10), { nowMs: 1 }),
    evaluate(alertOf(5), { nowMs: 2 }),
  ]);
  expect(asked).toEqual([1, 2]);
  const held = judged.map(({ outcome }) => outcome.kind === 'rows' && outcome.holding.length);
  expect(held).toEqual([1, 0, 1]);
});
