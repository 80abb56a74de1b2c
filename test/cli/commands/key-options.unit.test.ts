import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/cli/options.ts';

describe('a duration', () => {
  test.each([
    ['90d', 7_776_000_000],
    ['12h', 43_200_000],
    ['0s', 0],
    ['15', undefined],
    ['1.5h', undefined],
    ['-1s', undefined],
    ['1h30m', undefined],
    ['', undefined],
    ['1constructor', undefined],
  ])('%j is %j ms', (text, ms) => expect(parseDuration(text)).toBe(ms));
});
