import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toParts } from '../../../src/cli/commands/copy.ts';

test('the parts of a day follow each other, hold every event, and are within their bounds or one second', () => {
  const size = fc.record({ rows: fc.integer({ min: 1, max: 600_000 }), bytes: fc.nat(70 * 1024 * 1024) });
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 50 }), fc.nat(9), (sizes, gap) => {
      const seconds = sizes.map((one, i) => ({ ...one, second: i * (gap + 1), sum: 2n ** 62n + BigInt(i) }));
      const parts = toParts(seconds);
      for (const [i, { from, until, rows, sum }] of parts.entries()) {
        const within = seconds.filter(({ second }) => second >= from && second < until);
        expect(until).toBe(parts[i + 1]?.from ?? until);
        expect(rows).toBe(within.reduce((total, one) => total + one.rows, 0));
        expect(sum).toBe(within.reduce((total, one) => total + one.sum, 0n) % 2n ** 64n);
        const bytes = within.reduce((total, one) => total + one.bytes, 0);
        if (within.length > 1) expect(rows <= 500_000 && bytes <= 64 * 1024 * 1024).toBe(true);
      }
      expect(parts.reduce((total, { rows }) => total + rows, 0)).toBe(
        seconds.reduce((total, { rows }) => total + rows, 0),
      );
    }),
  );
});
