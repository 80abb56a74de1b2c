/** The waits of one loop; each ends at once when the signal aborts. */
export interface Pause {
  for(ms: number): Promise<void>;
  /** Ends after `ms`, or when `wake` is called, or at once if it was called since the last of these waits. */
  untilWoken(ms: number): Promise<void>;
  wake(): void;
}

export function createPause(signal: AbortSignal): Pause {
  let isWoken = false;
  let endWait: (() => void) | undefined;

  function wait(ms: number, isWakeable: boolean): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        endWait = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end, { once: true });
      if (isWakeable) endWait = end;
    });
  }

  return {
    for: (ms) => wait(ms, false),
    async untilWoken(ms) {
      if (!isWoken) await wait(ms, true);
      isWoken = false;
    },
    wake() {
      isWoken = true;
      endWait?.();
    },
  };
}
