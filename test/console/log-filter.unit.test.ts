import { expect, test } from 'vitest';
import { parseFilter } from '../../console/src/page/endpoint/log-filter.ts';
import { toLine } from '../../console/src/ui/lines/line.ts';
import { exclude, termOf } from '../../console/src/ui/lines/term.ts';

const LINE = toLine(
  {
    id: '1',
    timestamp: 1,
    event_message: 'GET | 503 | /rest/v1/Orders (slow)',
    metadata: { response: { status_code: 503 }, path: 'a b', ids: [1], none: null, 'x.id': 'c"d' },
  },
  { level: '503', tone: 'error' },
);

test.each([
  ['', true],
  ['orders', true],
  ['orderz', false],
  ['get*orders', true],
  ['"get*orders"', false],
  ['c\\"d', true], // as the metadata is written
  ['status_code', true],
  ['-orders', false],
  ['not orderz', true],
  ['orders 503', true],
  ['orders and nothing', false],
  ['nothing or orders', true],
  ['(nothing or orders) get', true],
  ['-(nothing or orders)', false],
  ['response.status_code:503', true],
  ['metadata.response.status_code:503', true],
  ['response.status_code:50*', true],
  ['response.status_code:"50*"', false],
  ['response.status_code:>=500', true],
  ['response.status_code:<500', false],
  ['response.status_code:>60', true], // by the number
  ['response.status_code:5', false],
  ['path:"a b"', true],
  ['path:*', true],
  ['none:*', false],
  ['gone:*', false],
  ['level:503', true],
  ['"x.id":"c\\"d"', true],
  ['constructor:*', false],
  // While it is typed.
  ['path:', true],
  ['(orders', true],
  ['"ord', true],
  ['orders or', true],
])('%j matches: %s', (text, isMatch) => {
  expect(parseFilter(text)(LINE)).toBe(isMatch);
});

test.each([
  ['response.status_code', 503],
  ['path', 'a b'],
  ['"x.id"', 'c"d'],
  ['ids', [1]],
  ['none', null],
])('the terms of a value match the line that has it, and not: %s', (field, value) => {
  const term = termOf(field, value);
  expect(parseFilter(term)(LINE)).toBe(true);
  expect(parseFilter(exclude(term))(LINE)).toBe(false);
});
