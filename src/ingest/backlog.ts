import { TailraceError } from '../errors.ts';
import type { Overload } from './backpressure/backpressure.ts';

/** Bytes of events that wait for one step, in all and of each key. */
export interface Backlog {
  readonly bytes: number;
  /**
   * Adds the bytes of one request, which may exceed the bounds, so that a body of any size is accepted in its turn.
   *
   * @param key id of the caller's key; empty for the service itself
   * @returns takes them out again; to be called once
   * @throws TailraceError `overloaded` if the bound of all, or of the key, is already reached
   */
  add(key: string, bytes: number): () => void;
}

// A key may hold three times what is free: three quarters of the backlog by itself, and less beside others.
const TIMES_FREE = 3;

export interface BacklogOptions {
  readonly bytesMax: number;
  /** Participle for the message. */
  readonly done: 'decoded' | 'stored';
  readonly onOverload?: ((reason: Overload) => void) | undefined;
}

export function createBacklog({ bytesMax, done, onOverload }: BacklogOptions): Backlog {
  const perKey = new Map<string, number>();
  let all = 0;

  function change(key: string, bytes: number): void {
    all += bytes;
    const ofKey = (perKey.get(key) ?? 0) + bytes;
    if (ofKey === 0) perKey.delete(key);
    else perKey.set(key, ofKey);
  }

  function full(reason: Overload, what: string): TailraceError {
    onOverload?.(reason);
    return new TailraceError('overloaded', `${what} are waiting to be ${done} already`);
  }

  return {
    get bytes() {
      return all;
    },
    add(key, bytes) {
      const ofKey = perKey.get(key) ?? 0;
      if (all >= bytesMax) throw full('backlog', `${bytesMax} bytes of events`);
      if (ofKey > 0 && ofKey >= TIMES_FREE * (bytesMax - all))
        throw full('share', `${ofKey} bytes of events of this key`);
      change(key, bytes);
      return () => change(key, -bytes);
    },
  };
}
