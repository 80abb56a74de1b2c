import { expect, test } from 'vitest';
import { findNearest } from '../../src/lib/nearest.ts';

const NAMES = ['project', 'project_tier', 'iso_timestamp_start', 'iso_timestamp_end', 'interval', 'q'];

test.each([
  ['projct', ['project']],
  ['Project', ['project', 'project_tier']],
  ['iso_timestamp', ['iso_timestamp_end', 'iso_timestamp_start']],
  ['p', []],
  ['x'.repeat(5_000), []],
])('%.20s may mean %j', (given, expected) => expect(findNearest(given, NAMES)).toEqual(expected));
