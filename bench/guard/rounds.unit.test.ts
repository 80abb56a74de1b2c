import { expect, test } from 'vitest';
import { ratioOf } from './rounds.ts';

test('a round that other work has disturbed counts on neither side', () => {
  const calm = { ours: [6, 6, 6, 6, 6], theirs: [2, 2, 2, 2, 2] };
  expect(ratioOf(calm)).toBe(3);
  expect(ratioOf({ ours: [9, 6, 6, 14, 6], theirs: [2, 5, 2, 2, 7] })).toBe(3);
});
