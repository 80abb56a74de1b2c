import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDeadline, untilAborted } from '../../src/lib/abort.ts';
import { parseDuration } from '../../src/lib/duration.ts';
import { EARLIEST_MICROS, formatInstant, LATEST_MICROS, parseInstant } from '../../src/lib/instant.ts';
import { createSingleFlight } from '../../src/lib/single-flight.ts';

describe('a duration', () => {
  test.each([
    ['90d', 7_776_000_000],
    ['12h', 43_200_000],
    ['30m', 1_800_000],
    ['45s', 45_000],
    ['0s', 0],
    ['15', undefined],
    ['m', undefined],
    ['1.5h', undefined],
    ['-1s', undefined],
    ['1 s', undefined],
    ['1S', undefined],
    ['1w', undefined],
    ['1h30m', undefined],
    ['', undefined],
    ['1constructor', undefined],
  ])('%j is %j ms', (text, ms) => expect(parseDuration(text)).toBe(ms));
});

describe('an instant', () => {
  const at = (text: string) => Date.parse(text) * 1000;
  test.each([
    ['2026-11-20T07:00:00Z', at('2026-11-20T07:00:00Z')],
    ['2026-11-20T07:00:00', at('2026-11-20T07:00:00Z')],
    ['2026-11-20 07:00:00', at('2026-11-20T07:00:00Z')],
    ['2026-11-20t07:00:00z', at('2026-11-20T07:00:00Z')],
    ['2026-11-20', at('2026-11-20T00:00:00Z')],
    ['2026-11-20T07:00', at('2026-11-20T07:00:00Z')],
    ['2026-11-20T07:00:00+01:00', at('2026-11-20T06:00:00Z')],
    ['2026-11-20T07:00:00 01:00', at('2026-11-20T06:00:00Z')],
    ['2026-11-20T07:00:00-0530', at('2026-11-20T12:30:00Z')],
    ['2026-11-20T07:00:00+01', at('2026-11-20T06:00:00Z')],
    ['2026-11-20T07:00:00.5Z', at('2026-11-20T07:00:00.500Z')],
    ['2026-11-20T07:00:00,123456Z', at('2026-11-20T07:00:00.123Z') + 456],
    ['2026-11-20T07:00:00.1234569Z', at('2026-11-20T07:00:00.123Z') + 456],
    ['20261120T070000Z', at('2026-11-20T07:00:00Z')],
    ['20261120', at('2026-11-20T00:00:00Z')],
    ['2024-02-29', at('2024-02-29T00:00:00Z')],
    ['0001-01-01', EARLIEST_MICROS],
    ['9999-12-31T23:59:59Z', LATEST_MICROS],
  ])('%s is read', (text, micros) => expect(parseInstant(text)).toBe(micros));

  test.each([
    '',
    'now',
    '2026',
    '2026-11',
    '2026-13-01',
    '2026-00-01',
    '2026-02-30',
    '2025-02-29',
    '2026-11-31',
    '2026-11-20T24:00:00Z',
    '2026-11-20T07:60:00Z',
    '2026-11-20T07:00:60Z',
    '2026-11-20T07:00:00+24:00',
    '2026-11-20T07:00:00+01:60',
    '2026-11-20T',
    '2026-11-20Z',
    '2026-11-20T07:00:00.Z',
    ' 2026-11-20',
    '2026-11-20\n',
    '２０２６-11-20',
    '+002026-11-20T07:00:00Z',
    '1763622000',
  ])('%j is not one', (text) => expect(parseInstant(text)).toBeUndefined());

  test('written and read again is the same, to the microsecond', () => {
    const micros = fc.integer({ min: EARLIEST_MICROS, max: LATEST_MICROS });
    fc.assert(
      fc.property(micros, (instant) => {
        const text = formatInstant(instant);
        expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
        expect(parseInstant(text)).toBe(instant);
      }),
    );
  });

  test('agrees with the platform on every date and zone', () => {
    const date = fc.date({ min: new Date('1901-01-01'), max: new Date('2254-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(date, fc.integer({ min: -14 * 60, max: 14 * 60 }), (instant, offset) => {
        const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [h, m] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
          String(n).padStart(2, '0'),
        );
        const text = `${local}${offset < 0 ? '-' : '+'}${h}:${m}`;
        expect(parseInstant(text)).toBe(instant.getTime() * 1000);
      }),
    );
  });
});

describe('waiting until aborted', () => {
  test('ends with the work, when that comes first', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  test('ends with the reason, and the failure that comes later is nobody’s', async () => {
    const controller = new AbortController();
    const work = Promise.withResolvers<void>();
    const waiting = untilAborted(work.promise, controller.signal);
    controller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    work.reject(new Error('late'));
    await expect(untilAborted(work.promise, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  });
});

describe('a deadline', () => {
  const late = () => new Error('late');

  test('aborts when it is due', async () => {
    const deadline = createDeadline(1, late);
    await new Promise((resolve) => deadline.signal.addEventListener('abort', resolve));
    expect(deadline.signal.reason).toEqual(late());
  });

  test('aborts with the caller’s reason, but not once it was cleared', () => {
    const caller = new AbortController();
    const [open, cleared] = [
      createDeadline(1e6, late, caller.signal),
      createDeadline(1e6, late, caller.signal),
    ];
    cleared.clear();
    caller.abort('left');
    expect(open.signal.reason).toBe('left');
    expect(cleared.signal.aborted).toBe(false);
    open.clear();
  });

  test('is not even set for a caller who has gone', () => {
    expect(() => createDeadline(1e6, late, AbortSignal.abort(new Error('gone')))).toThrow('gone');
  });
});

describe('a single flight', () => {
  test('is one for a key at a time, and other keys fly beside it', async () => {
    const flights = createSingleFlight<number>();
    const work = Promise.withResolvers<number>();
    let begun = 0;
    const start = () => {
      begun++;
      return work.promise;
    };
    const all = [flights.run('a', start), flights.run('a', start), flights.run('b', start)];
    expect([begun, flights.size]).toEqual([2, 2]);
    work.resolve(7);
    expect(await Promise.all(all)).toEqual([
      { value: 7, joined: false },
      { value: 7, joined: true },
      { value: 7, joined: false },
    ]);
    expect(flights.size).toBe(0);
    await flights.run('a', start);
    expect(begun).toBe(3);
  });

  test('is not begun for a caller who has gone', async () => {
    const flights = createSingleFlight<number>();
    const start = () => Promise.reject(new Error('begun'));
    await expect(flights.run('a', start, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(flights.size).toBe(0);
  });

  test('that was given up does not take the place of the one begun after it', async () => {
    const flights = createSingleFlight<string>();
    const slow = Promise.withResolvers<string>();
    const caller = new AbortController();
    const first = flights.run('a', () => slow.promise, caller.signal);
    caller.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    const next = Promise.withResolvers<string>();
    const second = flights.run('a', () => next.promise);
    slow.resolve('old');
    await slow.promise;
    expect(flights.size).toBe(1);
    next.resolve('new');
    expect(await second).toEqual({ value: 'new', joined: false });
  });
});
