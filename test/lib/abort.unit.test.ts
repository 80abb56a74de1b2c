import { describe, expect, test } from 'vitest';
import { untilAborted } from '../../src/lib/abort.ts';

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
