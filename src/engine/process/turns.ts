import { untilAborted } from '../../lib/abort.ts';

/** A turn that is taken. */
export interface Turn {
  /** Ends it by itself after so many ms. */
  endAfter(ms: number): void;
  /** Idempotent. */
  end(): void;
}

/**
 * Lets one begin after the other, in the order in which they come.
 *
 * @returns takes a turn when the one before has ended; throws the signal's reason when it aborts first
 */
export function createTurns(): (signal: AbortSignal) => Promise<Turn> {
  let last: Promise<void> = Promise.resolve();
  return async (signal) => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => ended);
    let timer: NodeJS.Timeout | undefined;
    const turn: Turn = {
      endAfter(ms) {
        timer = setTimeout(resolve, ms);
      },
      end() {
        clearTimeout(timer);
        resolve();
      },
    };
    await untilAborted(before, signal).catch((error: unknown) => {
      turn.end();
      throw error;
    });
    return turn;
  };
}
