import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeLast, lastMs, parseLast, toLast } from '../../console/src/format/last-range.ts';
import { hasLater, shiftRange, zoomOut } from '../../console/src/format/range-move.ts';
import { readRangeText } from '../../console/src/format/range-text.ts';
import { formatIso } from '../../console/src/format/time.ts';
import { resolveRange, type TimeRange } from '../../console/src/format/time-range.ts';
import { runs } from '../support/property.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const read = (text: string) => readRangeText(text, { nowMs: NOW, zone: 'utc' });
const absolute = (from: string, until: string): TimeRange => ({
  kind: 'absolute',
  from: `2026-11-${from}:00Z`,
  until: `2026-11-${until}:00Z`,
});

describe('a length that ends now', () => {
  test('is written with a short or a long unit', () => {
    const texts = ['40m', '40 min', ' 40 Minutes', '90s', '2 weeks', 'hour', '24h'];
    expect(texts.map(parseLast)).toEqual(['40m', '40m', '40m', '90s', '14d', '1h', '24h']);
    expect(['', 'm', '0m', '-5m', '1.5h', '5y', '3651d', '9999999999s', '__proto__'].map(parseLast)).toEqual(
      Array(9).fill(undefined),
    );
    expect(['1h', '40m', '1d', '24h'].flatMap((text) => parseLast(text) ?? []).map(describeLast)).toEqual([
      'Last hour',
      'Last 40 minutes',
      'Last day',
      'Last 24 hours',
    ]);
  });

  test('keeps its length in its largest unit', () => {
    expect([90_000, HOUR_MS, 24 * HOUR_MS, 48 * HOUR_MS, 1_500].map(toLast)).toEqual([
      '90s',
      '1h',
      '24h',
      '2d',
      undefined,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_650 * 86_400 }), (seconds) => {
        const range = toLast(seconds * 1_000);
        expect(range && lastMs(range)).toBe(seconds * 1_000);
      }),
      runs(200),
    );
  });
});

describe('a typed range', () => {
  test('ends now if only its length or its start is written', () => {
    for (const text of ['now-40m', 'now - 40 minutes', '-40m', '40m', 'last 40 min', 'NOW-40m to now'])
      expect([text, read(text)]).toEqual([text, { kind: 'last', range: '40m' }]);
  });

  test('has two ends, each relative, a time of today, or an instant', () => {
    expect(read('now-2h to now-1h')).toEqual(absolute('20T10:00', '20T11:00'));
    expect(read('7:00 – 08:30')).toEqual(absolute('20T07:00', '20T08:30'));
    expect(read('2026-11-19 07:00..now')).toEqual(absolute('19T07:00', '20T12:00'));
    expect(read('yesterday')).toEqual(absolute('19T00:00', '20T00:00'));
    expect(read('today')).toEqual(absolute('20T00:00', '20T12:00'));
    expect(read('1795176000 - 2026-11-20t12:00:01z')).toMatchObject({ until: '2026-11-20T12:00:01Z' });
  });

  test('that is none says what is wrong and what would be right', () => {
    expect(read('soon')).toEqual({
      kind: 'fault',
      message:
        '"soon" is not an instant; write a range such as now-40m, last 2 days, 07:00 to 08:30, or yesterday',
    });
    expect(read('08:00 to 07:00')).toEqual({
      kind: 'fault',
      message: '"08:00" is not before "07:00"; write the earlier one first',
    });
    expect(read('now-1h to now+1h')).toMatchObject({ kind: 'fault' });
    expect(read('1h to 2h to 3h')).toMatchObject({ message: expect.stringContaining('more than two ends') });
  });

  test('is a range or a fault for any text', () => {
    const part = fc.constantFrom('now', '-', '40', 'm', ' ', 'to', '..', ':', '2026-11-20', '7:00', 'last');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((all) => all.join('')),
        ),
        (text) => {
          const range = read(text);
          if (range.kind === 'fault') return;
          const { fromMs, untilMs } = resolveRange(range, NOW);
          expect(fromMs).toBeLessThan(untilMs);
        },
      ),
      runs(500),
    );
  });
});

describe('a range that is moved', () => {
  test('goes back by its length, and forward until it ends now', () => {
    const back = shiftRange({ kind: 'last', range: '1h' }, 'earlier', NOW);
    expect(back).toEqual(absolute('20T10:00', '20T11:00'));
    expect(hasLater(back, NOW)).toBe(true);
    expect(shiftRange(back, 'later', NOW + 5_000)).toEqual({ kind: 'last', range: '1h' });
    expect(shiftRange(back, 'later', NOW + 30 * MINUTE_MS)).toEqual(absolute('20T11:00', '20T12:00'));
    expect(hasLater({ kind: 'last', range: '1h' }, NOW)).toBe(false);
  });

  test('zooms out to twice its length around it, and not past the present', () => {
    expect(zoomOut({ kind: 'last', range: '40m' }, NOW)).toEqual({ kind: 'last', range: '80m' });
    expect(zoomOut({ kind: 'last', range: '3650d' }, NOW)).toEqual({ kind: 'last', range: '3650d' });
    expect(zoomOut(absolute('20T08:00', '20T09:00'), NOW)).toEqual(absolute('20T07:30', '20T09:30'));
    expect(zoomOut(absolute('20T11:30', '20T12:00'), NOW)).toEqual({ kind: 'last', range: '1h' });
  });

  test('keeps its length, whatever it is', () => {
    const lengths = fc.integer({ min: 1, max: 100 * 24 * HOUR_MS });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 0, max: 90 * MINUTE_MS }), (lengthMs, agoMs) => {
        const range: TimeRange = {
          kind: 'absolute',
          from: formatIso(NOW - agoMs - lengthMs),
          until: formatIso(NOW - agoMs),
        };
        for (const moved of [shiftRange(range, 'earlier', NOW), shiftRange(range, 'later', NOW)]) {
          const { fromMs, untilMs } = resolveRange(moved, NOW);
          expect(untilMs - fromMs).toBe(lengthMs);
          expect(untilMs).toBeLessThanOrEqual(NOW);
        }
      }),
      runs(200),
    );
  });
});
