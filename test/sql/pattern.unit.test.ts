import { describe, expect, test } from 'vitest';
import {
  findGroups,
  findLongFault,
  findPatternFault,
  mayRescan,
  PATTERN_BYTES_MAX,
} from '../../src/sql/pattern.ts';

describe('rejected is', () => {
  test.each([
    ['what multiplies', '(?:(.*)(.*)(.*)(.*)(.*)){1000}', 'is too large a pattern'],
    ['what held the event loop for 8 s', '.{0,999}'.repeat(500), 'is too large a pattern'],
    ['a count of a group with counts', '(?:[a-m]x{20}){80}', 'is too large a pattern: 2320 characters'],
    ['what is long', 'x'.repeat(PATTERN_BYTES_MAX + 1), 'must be at most 4096 bytes long'],
  ])('%s', (_, pattern, message) => {
    expect(findPatternFault(pattern)).toContain(message);
  });

  test('of LIKE, what is long', () => {
    expect(findLongFault('x'.repeat(PATTERN_BYTES_MAX + 1))).toContain('bytes long');
  });
});

test.each([
  '^https?://[a-z0-9]{20}\\.supabase\\.(co|in)/(rest|auth|storage)/v1/[^?]*\\?.*select=',
  '(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}',
  Array.from({ length: 100 }, (_, i) => `project-number-${i}`).join('|'),
])('accepted: %s', (pattern) => {
  expect(findPatternFault(pattern)).toBeUndefined();
});

test('groups are those that capture', () => {
  expect(findGroups('(a[(]b)(?:c(d)\\()(?P<e>f)\\Q(\\E')).toEqual(['(a[(]b)', '(d)', '(?P<e>f)']);
});

test.each([
  ['G(.*~)?', true],
  ['x.*y|z', true],
  ['(.+~)*.', true],
  ['G.*~', false],
  ['(GET|POST) /[a-z]+', false],
])('%s may scan a text again: %s', (pattern, rescans) => {
  expect(mayRescan(pattern)).toBe(rescans);
});
