import { describe, expect, test } from 'vitest';
import { findDifference } from './agree.ts';

const BUCKET = { timestamp: 1, count: 10_000, avg_execution_time: 100, p99_execution_time: 500 };

describe('an answer of another engine', () => {
  test('is the same with rounded means, near percentiles and metadata in another order', () => {
    const theirs = { ...BUCKET, avg_execution_time: 100 + 1e-9, p99_execution_time: 540 };
    expect(findDifference([BUCKET], [theirs])).toBeUndefined();
    expect(
      findDifference([{ id: 'a', metadata: { a: 1, b: 2 } }], [{ id: 'a', metadata: '{}' }]),
    ).toBeUndefined();
  });

  test.each([
    ['a row too many', [BUCKET, BUCKET], '1 rows, the other has 2'],
    ['another count', [{ ...BUCKET, count: 10_001 }], 'row 1, count: 10000, the other has 10001'],
    ['a number as text', [{ ...BUCKET, count: '10000' }], 'row 1, count: 10000, the other has "10000"'],
    [
      'another mean',
      [{ ...BUCKET, avg_execution_time: 100.1 }],
      'avg_execution_time: 100, the other has 100.1',
    ],
    [
      'a far percentile',
      [{ ...BUCKET, p99_execution_time: 600 }],
      'p99_execution_time: 500, the other has 600',
    ],
    ['a column missing', [{ ...BUCKET, timestamp: undefined }], 'timestamp: 1, the other has undefined'],
  ])('is another one with %s', (_what, theirs, difference) => {
    expect(findDifference([BUCKET], theirs)).toContain(difference);
  });

  test('may have any percentile of few values, but not none', () => {
    const few = { ...BUCKET, count: 3 };
    expect(findDifference([few], [{ ...few, p99_execution_time: 900 }])).toBeUndefined();
    expect(findDifference([few], [{ ...few, p99_execution_time: null }])).toContain('p99_execution_time');
  });
});
