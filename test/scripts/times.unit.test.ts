import { expect, test } from 'vitest';
import { describeTimes } from '../support/time-reporter.ts';

test('the time of each ring is listed, longest first, then the slowest files', () => {
  const files = [
    { ring: 'unit', path: 'a.unit.test.ts', seconds: 1.2 },
    { ring: 'service', path: 'b.test.ts', seconds: 20 },
    { ring: 'unit', path: 'c.unit.test.ts', seconds: 3 },
  ];
  expect(describeTimes(files).trim().split('\n')).toEqual([
    'ring       files seconds',
    'service        1      20',
    'unit           2       4',
    '',
    'slowest files',
    'service       20  b.test.ts',
    'unit           3  c.unit.test.ts',
    'unit           1  a.unit.test.ts',
  ]);
});
