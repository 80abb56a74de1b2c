import { describe, expect, test } from 'vitest';
import { createSingleFlight, type Flight } from '../../src/lib/single-flight.ts';

describe('a single flight', () => {
  test('is told the names of those who join it, and not of who began it', async () => {
    const flights = createSingleFlight<string>();
    const work = Promise.withResolvers<string>();
    const joined: string[] = [];
    const start: Flight<string> = (_signal, onJoin) => {
      onJoin((name) => joined.push(name));
      return work.promise;
    };
    const all = ['a', 'b', 'c', undefined].map((name) => flights.run('key', start, { name }));
    expect(joined).toEqual(['b', 'c']);
    work.resolve('done');
    await Promise.all(all);
  });

  test('that was given up does not take the place of the one begun after it', async () => {
    const flights = createSingleFlight<string>();
    const slow = Promise.withResolvers<string>();
    const caller = new AbortController();
    const first = flights.run('a', () => slow.promise, { signal: caller.signal });
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
