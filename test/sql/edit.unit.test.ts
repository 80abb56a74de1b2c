import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyEdits } from '../../src/sql/edit.ts';

test('of two edits of one place only the outer one applies', () => {
  const edits = [
    { start: 2, end: 3, text: 'inner' },
    { start: 1, end: 5, text: '-' },
    { start: 1, end: 2, text: 'inner' },
  ];
  expect(applyEdits('abcdef', edits)).toBe('a-f');
});

test('edits of separate places are the same as one after the other from the end', () => {
  const text = fc.string({ maxLength: 30 });
  const property = fc.property(
    text,
    fc.array(fc.nat(30), { maxLength: 8 }),
    fc.string(),
    (sql, cuts, put) => {
      const places = [...new Set(cuts.map((at) => Math.min(at, sql.length)))].sort((a, b) => a - b);
      const edits = places
        .slice(1)
        .flatMap((end, i) => (i % 2 === 0 ? { start: places[i] ?? 0, end, text: put } : []));
      const expected = edits.reduceRight(
        (left, { start, end }) => left.slice(0, start) + put + left.slice(end),
        sql,
      );
      expect(applyEdits(sql, edits)).toBe(expected);
    },
  );
  fc.assert(property);
});
