import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explorePath, formatAddress, parseAddress } from '../../console/src/page/explore/address.ts';

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
      columns: ['request.path', 'headers."a,b"'],
      refresh: 10,
      live: true,
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
    expect(parseAddress('?range=5y&refresh=1&live=yes&from=yesterday&until=now')).toEqual(parseAddress(''));
    expect(parseAddress('source=a,,a&source=b').source).toEqual(['a', 'b']);
  });

  test('reads any values, and what it writes reads the same', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('1h', '30d', '5', '1', 'a,b', '"a,b",c', '2026-11-20'),
    );
    const names = [
      'q',
      'source',
      'project',
      'range',
      'from',
      'until',
      'by',
      'columns',
      'refresh',
      'live',
      'at',
    ];
    const values = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(values, (given) => {
        const address = parseAddress(new URLSearchParams(given).toString());
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });
});
