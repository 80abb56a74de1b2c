import { describe, expect, test } from 'vitest';
import { findLikeFault, findPatternFault, PATTERN_BYTES_MAX, patternCost } from '../../src/sql/pattern.ts';

// What RE2's own ProgramSize says of each, less the four instructions that every program has.
test.each([
  ['aurora', 0],
  ['^aurora\\.', 8],
  ['(?:ab){3}', 6],
  ['a{2,}', 3],
  ['[]a{9}]{4}', 16],
  ['.', 8],
  ['\\w', 3],
  ['\\pL', 1_193],
  ['(?:\\pL\\PN{0,9}){3}', 3 * (1_197 + 9 * 473)],
  ['\\Qa{9}\\E', 4],
])('the size of %s is at least %i, and not many times that', (pattern, size) => {
  const { size: estimated } = patternCost(pattern);
  expect(estimated).toBeGreaterThanOrEqual(size - 1);
  expect(estimated).toBeLessThanOrEqual(3 * size + 12);
});

test('repetitions multiply, however they are nested', () => {
  expect(patternCost('(?:(.*)(.*)(.*)(.*)(.*)){1000}').size).toBeGreaterThan(10_000);
  expect(patternCost('((a{100}){100}){100}').size).toBeGreaterThanOrEqual(1_000_000);
  expect(patternCost('(a|b)*'.repeat(8_000)).size).toBeGreaterThan(8_000);
  expect(patternCost('(?:[a-z].?){9}').choices).toBe(18);
});

describe('refused is', () => {
  test.each([
    ['what multiplies', '(?:(.*)(.*)(.*)(.*)(.*)){1000}', 'is too large a pattern'],
    ['what held a reader for 34 s', '(?:\\pL\\PN{0,9}){30}~', 'is too large a pattern'],
    ['what needs a new state for every byte', '(?:[a-m].{0,9}){12}[~]', 'is too costly a pattern'],
    ['the same by alternations', '(?:(?:a|[b-m])(?:.|x)){40}[~]', 'is too costly a pattern'],
  ])('%s', (_, pattern, message) => {
    expect(findPatternFault(pattern)).toContain(message);
  });

  test('of LIKE, what comes to such a pattern', () => {
    expect(findLikeFault(`%a${'_'.repeat(60)}%~%`)).toContain('is too costly a pattern');
    expect(findLikeFault('x'.repeat(PATTERN_BYTES_MAX + 1))).toContain('bytes long');
  });
});

describe('taken is', () => {
  test.each([
    '^https?://[a-z0-9]{20}\\.supabase\\.(co|in)/(rest|auth|storage)/v1/[^?]*\\?.*select=',
    '(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}',
    Array.from({ length: 100 }, (_, i) => `project-number-${i}`).join('|'),
    'id=[^&]{20}&',
  ])('%s', (pattern) => {
    expect(findPatternFault(pattern)).toBeUndefined();
  });

  test('of LIKE, what people write', () => {
    expect(findLikeFault('%/rest/v1/orders?id=eq.____%')).toBeUndefined();
  });
});
