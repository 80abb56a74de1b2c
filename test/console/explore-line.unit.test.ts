import { describe, expect, test } from 'vitest';
import {
  attributesOf,
  formatValue,
  LINES_MAX,
  type Line,
  mergeLines,
  toLine,
  valueAt,
} from '../../console/src/ui/lines/line.ts';
import { addTerm, exclude, termOf } from '../../console/src/ui/lines/term.ts';
import { parseSearch } from '../../src/search/parse.ts';

const METADATA = {
  request: { path: '/rest', headers: { 'x.id': 'a"b', 'user agent': 'c d' } },
  level: 'high',
  metadata: { level: 1 },
  ids: [1, 2],
  none: null,
  big: 9007199254740993n,
  empty: {},
};
const LINE = toLine({
  source: 'postgres.logs',
  id: 'a',
  timestamp: 1_795_176_000_123_456,
  project: 'aurora',
  level: null,
  event_message: 'it ended',
  metadata: METADATA,
});

describe('a record', () => {
  test('has each value with the field that a search finds it by', () => {
    const found = attributesOf(METADATA);
    expect(found.map(({ field, value }) => [field, formatValue(value)])).toEqual([
      ['request.path', '/rest'],
      ['request.headers."x.id"', 'a"b'],
      ['request.headers."user agent"', 'c d'],
      ['metadata.level', 'high'],
      ['metadata.metadata.level', '1'],
      ['ids', '[1,2]'],
      ['none', 'null'],
      ['big', '9007199254740993'],
      ['empty', '{}'],
    ]);
    for (const { field, value } of found) expect(valueAt(LINE, field)).toEqual(value);
    expect(valueAt(LINE, 'project')).toBe('aurora');
    expect(valueAt(LINE, 'request.no.such')).toBeUndefined();
  });

  test('of another shape than an object has one value', () => {
    expect(attributesOf('text')).toEqual([{ field: 'metadata', value: 'text' }]);
    expect(attributesOf(Array.from({ length: 10_000 }))).toHaveLength(1);
  });
});

describe('a filter', () => {
  test.each([
    ['level', null, '-level:*'],
    ['response.status_code', 500, 'response.status_code:500'],
    ['request.path', '/a b', 'request.path:"/a b"'],
    ['ids', [1, 2], 'ids:*'],
    ['request.search', '', 'request.search:""'],
    ['event_message', '>= *"x" \\ or', 'event_message:">= *\\"x\\" \\\\ or"'],
  ])('for %s with %j is %s', (field, value, term) => {
    expect(termOf(field, value)).toBe(term);
    expect(exclude(exclude(term))).toBe(term);
    const tree = parseSearch(term, 10);
    if (typeof value === 'string')
      expect(tree).toEqual({
        ...{ kind: 'compare', operator: '=', position: field.length + 1 },
        field: field.split('.'),
        value: [value],
        isQuoted: true,
      });
  });

  test('is added to a search so that both apply, once', () => {
    expect(addTerm('', 'a:1')).toBe('a:1');
    expect(addTerm('x or y', 'a:1')).toBe('(x or y) a:1');
    expect(addTerm('"x"or y', 'a:1')).toBe('("x"or y) a:1');
    expect(addTerm('x a:1', 'a:1')).toBe('x a:1');
  });
});

describe('lines', () => {
  const create = (micros: number, id = String(micros)): Line =>
    toLine({ source: 's', id, timestamp: micros });

  test('are kept newest first, each once', () => {
    const [one, two, three, four] = [1, 2, 3, 4].map((micros) => create(micros));
    if (!one || !two || !three || !four) throw new Error('four lines');
    expect(mergeLines([three, two], [two, one])).toEqual([three, two, one]);
    expect(mergeLines([three, two], [one, four])).toEqual([four, three, two, one]);
    expect(mergeLines([create(1, 'a')], [create(1, 'b')]).map(({ id }) => id)).toEqual(['b', 'a']);
  });

  test('are at most ten thousand, the newest', () => {
    const many = Array.from({ length: LINES_MAX }, (_, i) => create(LINES_MAX - i));
    const merged = mergeLines(many, [create(LINES_MAX + 1)]);
    expect(merged).toHaveLength(LINES_MAX);
    expect([merged[0]?.micros, merged.at(-1)?.micros]).toEqual([LINES_MAX + 1, 2]);
  });
});
