import { describe, expect, test } from 'vitest';
import { createRefreshingValue } from '../../src/lib/refreshing-value.ts';

function createRead() {
  const clock = { now: 0 };
  const pending: PromiseWithResolvers<string>[] = [];
  const read = () => {
    const one = Promise.withResolvers<string>();
    pending.push(one);
    return one.promise;
  };
  return { clock, pending, refreshed: createRefreshingValue(read, { maxAgeMs: 100, now: () => clock.now }) };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a value that is read again when it is old', () => {
  test('is waited for once, by all who come first', async () => {
    const { pending, refreshed } = createRead();
    const both = [refreshed.get(), refreshed.get()];
    expect(pending.length).toBe(1);
    pending[0]?.resolve('one');
    expect(await Promise.all(both)).toEqual([
      { value: 'one', readMs: 0 },
      { value: 'one', readMs: 0 },
    ]);
  });

  test('is given at once when it is old, and the new one to whoever comes after it was read', async () => {
    const { clock, pending, refreshed } = createRead();
    const first = refreshed.get();
    pending[0]?.resolve('one');
    await first;
    clock.now = 99;
    await refreshed.get();
    expect(pending.length).toBe(1);
    clock.now = 100;
    expect((await refreshed.get()).value).toBe('one');
    expect((await refreshed.get()).value).toBe('one');
    expect(pending.length).toBe(2);
    pending[1]?.resolve('two');
    await settle();
    expect(await refreshed.get()).toEqual({ value: 'two', readMs: 100 });
  });

  test('stays when it cannot be read again, and is asked for anew', async () => {
    const { clock, pending, refreshed } = createRead();
    const first = refreshed.get();
    pending[0]?.resolve('one');
    await first;
    clock.now = 100;
    await refreshed.get();
    pending[1]?.reject(new Error('away'));
    await settle();
    const failure = new Error('away');
    expect(await refreshed.get()).toEqual({ value: 'one', readMs: 0, failure });
    expect(pending.length).toBe(3);
    pending[2]?.resolve('three');
  });

  test('is an error as long as it was never read', async () => {
    const { pending, refreshed } = createRead();
    const first = refreshed.get();
    pending[0]?.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    const second = refreshed.get();
    pending[1]?.resolve('one');
    expect((await second).value).toBe('one');
  });
});
