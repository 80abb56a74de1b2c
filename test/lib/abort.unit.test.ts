import { describe, expect, test } from 'vitest';
import { createDeadline, untilAborted } from '../../src/lib/abort.ts';

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
