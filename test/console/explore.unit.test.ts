import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findNext } from '../../console/src/api/answer.ts';
import { formatPattern } from '../../console/src/format/search-text.ts';
import { formatAddress, parseAddress, readAddress } from '../../console/src/page/explore/address.ts';
import { exclude } from '../../console/src/page/explore/lines/line.ts';
import {
  deleteSearch,
  formatTeamSearch,
  readSearches,
  saveSearch,
  slugOf,
} from '../../console/src/page/explore/saved-searches.tsx';
import { planCounts, planSlices, resolveSearch, searchPath } from '../../console/src/page/explore/search.ts';
import { SAVED_SEARCHES } from '../../src/definitions/saved-search.ts';
import { parseYaml } from '../../src/definitions/yaml-file.ts';
import { parseSearch } from '../../src/search/parse.ts';
import { runs } from '../support/property.ts';

const ADDRESS = {
  q: 'level:error -"a b"',
  source: ['postgres.logs', 'cloudflare.logs.prod'],
  project: 'aurora',
  range: { kind: 'absolute', from: '2026-11-20T07:00:00Z', until: '2026-11-20T08:00:00.5Z' } as const,
  by: 'response.status_code',
  measure: 'p95(execution_time_ms)',
  top: 5,
  columns: ['request.path', 'headers."a,b"'],
  ...({ live: true, order: 'oldest', view: 'compare', compare: 'range' } as const),
  mark: '2026-11-20T07:00:00Z/2026-11-20T07:10:00Z',
  at: '1795176000123456:postgres.logs:9c1f',
};

describe('the address of Explore', () => {
  test('holds everything that the page shows', () => {
    expect(parseAddress(formatAddress(ADDRESS))).toEqual(ADDRESS);
  });

  test('says what cannot be read of it, and shows the default instead', () => {
    const wrong =
      'range=7x&top=4&measure=p95&view=table&order=up&live=yes&compare=all&mark=now&from=2026-11-20';
    const { address, unread } = readAddress(`?q=a&${wrong}`);
    expect(address).toEqual(parseAddress('q=a'));
    expect(unread.toSorted()).toEqual(wrong.split('&').toSorted());
    expect(readAddress('range=7d').unread).toEqual([]);
    const unending = readAddress('from=2026-11-20&until=soon&range=6h');
    expect(unending).toMatchObject({
      address: { range: { kind: 'last', range: '6h' } },
      unread: ['from=2026-11-20', 'until=soon'],
    });
  });

  test('reads any values, and what it writes reads the same', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('1h', '30d', '5', '1', 'p50(a)', 'patterns', 'a,b', '"a,b",c', '2026-11-20'),
    );
    const names = [...new URLSearchParams(formatAddress(ADDRESS)).keys(), 'range'];
    const values = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(values, (given) => {
        const address = parseAddress(new URLSearchParams(given).toString());
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });
});

test('a search of the team is a file that the service reads, without what is of one moment', () => {
  const title = 'Café: "fails"!';
  const address = new URLSearchParams(formatAddress(ADDRESS));
  const id = '5b0f6f0e-2f0b-4a55-8a57-0d7d0a2f9a11';
  const text = `id: ${id}\nname: ${slugOf(title)}\n${formatTeamSearch(title, address.toString())}`;
  const file = parseYaml('search.yaml', text);
  if (!('value' in file)) throw new Error(JSON.stringify(file));
  expect(SAVED_SEARCHES.check(file)).toEqual([]);
  for (const name of ['live', 'at']) address.delete(name);
  const search = Object.fromEntries(address);
  expect(SAVED_SEARCHES.create(file)).toMatchObject({ name: 'cafe-fails', title, search });
  expect(slugOf('検索')).toMatch(/^search-\w+$/);
});

test('saved searches stay in the browser, one of each name, and what another page wrote there breaks nothing', () => {
  const stored = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, text: string) => void stored.set(name, text),
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  for (const name of ['b 10', 'b 9', 'a']) saveSearch({ name, address: `q=${name}` });
  saveSearch({ name: 'a', address: 'q=level%3Aerror&range=6h' });
  deleteSearch('b 10');
  const searches = [
    { name: 'a', address: 'q=level%3Aerror&range=6h' },
    { name: 'b 9', address: 'q=b 9' },
  ];
  expect(readSearches()).toEqual(searches);
  const [[key = ''] = []] = [...stored];
  for (const [text, read] of [
    ['{', []],
    ['{"a": 1}', []],
    [JSON.stringify([null, 3, { name: 'a' }, ...searches]), searches],
  ] as const) {
    stored.set(key, text);
    expect(readSearches()).toEqual(read);
  }
});

const NOW_MS = Date.parse('2026-11-20T12:34:56.789Z');
const HOUR_MS = 3_600_000;
const ALL = { q: '', source: [], project: '' };

test('a range is covered by slices and counts without gaps, newest first, each time bucket once', () => {
  const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) });
  const lengths = fc.oneof(fc.integer({ min: 1, max: 90_000_000 }), fc.integer({ min: 1, max: 4e11 }));
  const offsets = fc.constantFrom(0, HOUR_MS, -5.5 * HOUR_MS);
  fc.assert(
    fc.property(instants, lengths, offsets, (fromMs, lengthMs, offsetMs) => {
      const [from = '', until = ''] = [fromMs, fromMs + lengthMs].map((ms) => new Date(ms).toISOString());
      const range = { kind: 'absolute', from, until } as const;
      const search = resolveSearch({ ...ALL, range }, NOW_MS, offsetMs);
      const slices = planSlices(search);
      expect(slices.length).toBeLessThanOrEqual(12);
      const counts = slices.flatMap((slice) => planCounts(slice, search));
      for (const parts of [slices, counts]) {
        expect(parts[0]?.untilMs).toBe(search.untilMs);
        expect(parts.at(-1)?.fromMs).toBe(search.fromMs);
        parts.slice(1).forEach((part, i) => {
          expect(part.untilMs).toBe(parts[i]?.fromMs);
          expect((part.untilMs + offsetMs) % search.widthMs).toBe(0);
        });
      }
      for (const { fromMs: start, untilMs: end, buckets } of counts)
        expect(buckets === 1 || (end - start) / buckets === search.widthMs).toBe(true);
      expect(counts.reduce((sum, { buckets }) => sum + buckets, 0)).toBeLessThanOrEqual(80);
    }),
  );
});

test('a request has what is set, and the cursor of the page before', () => {
  const search = { q: 'a b', source: ['x', 'y'], project: '' };
  expect(searchPath(search, { fromMs: 0, untilMs: 1 }, { cursor: 'c' })).toBe(
    '/api/search?q=a+b&source=x%2Cy&from=1970-01-01T00%3A00%3A00.000Z&until=1970-01-01T00%3A00%3A00.001Z&cursor=c',
  );
  expect(findNext(new Headers({ link: '</api/search?q=a&cursor=x%2By>; rel="next"' }))).toBe('x+y');
  expect(findNext(new Headers())).toBeUndefined();
});

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
    const part = fc.constantFrom(...' -"(:*a\\', '<num>', '<id>', 'or', 'not', '[1 TO 2]', '{a="');
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
