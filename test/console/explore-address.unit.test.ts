import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explorePath, formatAddress, parseAddress } from '../../console/src/page/explore/address.ts';
import { ADDRESS_NAMES } from '../../src/management/saved-searches.ts';

describe('the address of Explore', () => {
  test('holds everything that the page shows', () => {
    const address = {
      q: 'level:error -"a b"',
      source: ['postgres.logs', 'cloudflare.logs.prod'],
      project: 'aurora',
      range: undefined,
      from: '2026-11-20T07:00:00Z',
      until: '2026-11-20T08:00:00.5Z',
      by: 'response.status_code',
      measure: 'p95(execution_time_ms)',
      top: 5,
      log: true,
      columns: ['request.path', 'headers."a,b"'],
      refresh: 10,
      live: true,
      view: 'compare' as const,
      compare: 'range',
      mark: '2026-11-20T07:00:00Z/2026-11-20T07:10:00Z',
      before: true,
      at: '1795176000123456:postgres.logs:9c1f',
    };
    expect(parseAddress(formatAddress(address))).toEqual(address);
  });

  test('is empty for the last hour of every source', () => {
    expect(explorePath({})).toBe('/explore');
    expect(formatAddress(parseAddress(''))).toBe('');
    expect(parseAddress('')).toMatchObject({ range: '1h', by: 'level', source: [], live: false });
  });

  test('prefers from and until to a range', () => {
    const from = '2026-11-20T07:00:00Z';
    const until = '2026-11-20T08:00:00Z';
    expect(explorePath({ range: '6h', from, until })).toBe(
      '/explore?from=2026-11-20T07%3A00%3A00Z&until=2026-11-20T08%3A00%3A00Z',
    );
    expect(parseAddress(`range=6h&from=${from}&until=${until}`)).toMatchObject({ range: undefined, from });
  });

  test('leaves out what it cannot read', () => {
    expect(parseAddress('?range=40m').range).toBe('40m');
    expect(parseAddress('?range=5y&refresh=1&live=yes&from=yesterday&until=now')).toEqual(parseAddress(''));
    expect(parseAddress('source=a,,a&source=b').source).toEqual(['a', 'b']);
  });

  test('reads any values, and what it writes reads the same', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('1h', '30d', '5', '1', 'p50(a)', 'patterns', 'a,b', '"a,b",c', '2026-11-20'),
    );
    const values = fc.dictionary(fc.constantFrom(...ADDRESS_NAMES), value);
    fc.assert(
      fc.property(values, (given) => {
        const address = parseAddress(new URLSearchParams(given).toString());
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });

  test('has the names that saved searches accept', () => {
    const changed = {
      q: 'a',
      source: ['a'],
      project: 'a',
      by: 'a',
      measure: 'p95(a)',
      top: 5,
      log: true,
    } as const;
    const more = {
      columns: ['a'],
      refresh: 10,
      live: true,
      view: 'patterns',
      compare: 'a',
      mark: 'a',
    } as const;
    const address = { ...changed, ...more, before: true, at: 'a' };
    const times = { range: undefined, from: '2026-11-20T07:00:00Z', until: '2026-11-20T08:00:00Z' };
    const names = [
      formatAddress({ ...address, ...times }),
      formatAddress({ ...address, range: '3h' }),
    ].flatMap((text) => [...new URLSearchParams(text).keys()]);
    expect(new Set(names)).toEqual(new Set(ADDRESS_NAMES));
  });
});
