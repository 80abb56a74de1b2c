import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatField, formatTerm, joinSearches } from '../../console/src/format/search-text.ts';
import { parseField, parseSearch } from '../../src/search/parse.ts';
import { runs } from '../support/property.ts';

const parse = (text: string) => parseSearch(text, 100);

describe('the text of a search', () => {
  test('has a value that the service reads as exactly this one', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.array(
          texts.filter((one) => one !== ''),
          { minLength: 1, maxLength: 4 },
        ),
        texts,
        (path, value) => {
          const field = formatField(path);
          expect(parseField(field, 'field')).toEqual(path);
          expect(parse(formatTerm(field, value))).toMatchObject({
            kind: 'compare',
            field: path,
            operator: '=',
            value: [value],
          });
        },
      ),
      runs(200),
    );
  });

  test('leaves values as they are where they need no quotes', () => {
    expect(formatTerm('response.status_code', '500')).toBe('response.status_code:500');
    expect(formatTerm('request.path', '/rest/v1')).toBe('request.path:/rest/v1');
    expect(formatTerm('function_id', '>=5')).toBe('function_id:">=5"');
    expect(formatTerm('a', 'x*"y"')).toBe('a:"x*\\"y\\""');
  });

  test('joins searches so that each still means the same', () => {
    expect(joinSearches(['', ' level:error ', ''])).toBe('level:error');
    expect(joinSearches(['a or b', 'level:error'])).toBe('(a or b) level:error');
    expect(joinSearches(['"a or b"', 'word', 'operator:x'])).toBe('"a or b" word operator:x');
    for (const text of ['a OR(b)', '(a)or b', 'a or"b"', '"a"or b', 'a or -b', 'x or y z'])
      expect(parse(joinSearches([text, 'c']))).toEqual({
        kind: 'and',
        items: [parse(text), parse('c')].map((tree) => expect.objectContaining({ kind: tree?.kind })),
      });
  });
});
