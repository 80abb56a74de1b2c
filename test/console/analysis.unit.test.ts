import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatPattern } from '../../console/src/format/pattern-text.ts';
import { divide, listKinds, parseMark } from '../../console/src/page/explore/analysis/compare-sets.ts';
import { type FieldSummary, rankFields } from '../../console/src/page/explore/analysis/rank-fields.ts';
import { formatMeasure, parseMeasure } from '../../console/src/page/explore/histogram/measure.ts';
import { toBars } from '../../console/src/page/explore/histogram/series.ts';
import { resolveSearch } from '../../console/src/page/explore/search/search.ts';
import { exclude } from '../../console/src/ui/lines/term.ts';
import { parseSearch } from '../../src/search/parse.ts';
import { runs } from '../support/property.ts';

const parse = (q: string) => parseSearch(q, 100);

describe('the search for a pattern', () => {
  test('has its fixed texts in their order', () => {
    expect(formatPattern('GET | <num> | <ip> | /rest/v1/<word>')).toBe('GET*|*|*|*/rest/v1/');
    expect(formatPattern('<time> user <id> logged in')).toBe('user*logged*in');
    expect(formatPattern('took <num>')).toBe('"took"');
    expect(formatPattern('connection "a" refused')).toBe('"connection \\"a\\" refused"');
    expect(formatPattern('-x: (<num>) or "y"')).toBe('x*or*y');
    expect(['', '  ', '<num>', '<num> : <id>'].map(formatPattern)).toEqual(Array(4).fill(undefined));
  });

  test('is one term that the service reads, whatever the pattern is', () => {
    const part = fc.constantFrom(
      '<num>',
      '<id>',
      ' ',
      'or',
      'not',
      '-',
      '"',
      '(',
      ':',
      '*',
      'a',
      '\\',
      '[1 TO 2]',
      '{a="',
    );
    const patterns = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(part).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(patterns, (pattern) => {
        const term = formatPattern(pattern);
        if (term === undefined) return;
        expect([term, parse(term)?.kind]).toEqual([term, 'text']);
        expect([term, parse(exclude(term))?.kind]).toEqual([term, 'not']);
      }),
      runs(500),
    );
  });
});

describe('two sets of events', () => {
  test('are errors and the rest, unless the search is about levels', () => {
    expect(divide({ q: 'a or b', mark: '' }, '')).toMatchObject({
      kind: 'errors',
      q: '(a or b) level:>=error',
      against: '(a or b) -level:>=error',
    });
    expect(listKinds({ q: 'level:error', mark: '' })).toEqual(['search']);
    expect(listKinds({ q: 'message:level', mark: '' })).toEqual(['errors', 'search']);
    expect(divide({ q: ' ', mark: '' }, 'search')?.kind).toBe('errors');
    expect(divide({ q: 'a', mark: '' }, 'search')).toMatchObject({ q: 'a', against: undefined });
  });

  test('are a marked range and the rest', () => {
    const mark = '2026-11-20T07:00:00Z/2026-11-20T08:00:00Z';
    const sets = divide({ q: 'a', mark }, 'range');
    expect(sets).toMatchObject({
      q: 'a timestamp:>=2026-11-20T07:00:00Z timestamp:<2026-11-20T08:00:00Z',
      against: 'a (timestamp:<2026-11-20T07:00:00Z or timestamp:>=2026-11-20T08:00:00Z)',
    });
    for (const q of [sets?.q, sets?.against]) expect(parse(q ?? '')?.kind).toBe('and');
    expect(['', 'a/b', '2026-11-20/2026-11-19', '2026-11-20'].map(parseMark)).toEqual(
      Array(4).fill(undefined),
    );
  });
});

test('fields are ranked by coverage, those with one value or too many behind; absent ones are left out', () => {
  const field = (
    name: string,
    coverage: number,
    distinct: number,
    p50: number | null = null,
  ): FieldSummary => ({
    ...{ field: name, coverage, distinct, top: [], min: p50, max: p50, p50, p95: p50 },
  });
  const ranked = rankFields([
    field('trace', 1, 10_000),
    field('version', 0.5, 3),
    field('constant', 1, 1),
    field('duration', 0.9, 5_000, 12),
    field('gone', 0, 0),
    field('level', 1, 4),
  ]);
  expect(ranked.map(({ field: name }) => name)).toEqual([
    'level',
    'duration',
    'version',
    'trace',
    'constant',
  ]);
});

test('a measure is read as it is written, and another text counts', () => {
  const texts = ['p95(execution_time_ms)', 'distinct("a b".c)', 'sum(a(b))'];
  expect(texts.map((text) => formatMeasure(parseMeasure(text)))).toEqual(texts);
  expect(['', 'count', 'count(a)', 'p95', 'p95()', 'max(a)', '__proto__(a)'].map(parseMeasure)).toEqual(
    Array(7).fill({ name: 'count', field: '' }),
  );
});

test('percentiles are lines beside each other, without totals, with gaps and the rest of the service', () => {
  const asked = { q: '', source: [], project: '', from: undefined, until: undefined, range: '1h' as const };
  const search = resolveSearch(asked, Date.parse('2026-11-20T12:00:00Z'), 0);
  const startMs = search.fromMs;
  const measure = parseMeasure('p95(ms)');
  const bars = toBars(
    [
      { startMs, value: 'a', count: 2, amount: 70 },
      { startMs, value: undefined, count: 3, amount: 40 },
    ],
    search,
    { by: 'source', measure, top: 3 },
  );
  expect(bars.areLines).toBe(true);
  expect(bars.total).toBe(5);
  expect(bars.series.map(({ label, total, counts }) => [label, total, counts.slice(0, 2)])).toEqual([
    ['a', undefined, [70, null]],
    ['other values', undefined, [40, null]],
  ]);
  const summed = toBars([{ startMs, value: 'a', count: 2, amount: 7.5 }], search, {
    by: 'source',
    measure: parseMeasure('sum(ms)'),
  });
  expect(summed.series[0]?.total).toBe(7.5);
});
