import { describe, expect, test } from 'vitest';
import { findLikeFault, findPatternFault, PATTERN_BYTES_MAX } from '../../src/sql/pattern.ts';

describe('refused is', () => {
  test.each([
    ['what multiplies', '(?:(.*)(.*)(.*)(.*)(.*)){1000}', 'is too large a pattern'],
    ['what held a reader for 34 s', '(?:\\pL\\PN{0,9}){30}~', 'is too large a pattern'],
    ['what needs a new state for every byte', '(?:[a-m].{0,9}){12}[~]', 'is too costly a pattern'],
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
  ])('%s', (pattern) => {
    expect(findPatternFault(pattern)).toBeUndefined();
  });

  test('of LIKE, what people write', () => {
    expect(findLikeFault('%/rest/v1/orders?id=eq.____%')).toBeUndefined();
  });
});
