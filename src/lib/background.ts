/** Runs promises that no caller waits for, until `idle` waits for all of them. */
export interface Background {
  /** Fire and forget: rejections are swallowed. */
  run(work: Promise<unknown>): void;
  /** Resolves when none is running. */
  idle(): Promise<void>;
}

export function createBackground(): Background {
  const running = new Set<Promise<unknown>>();
  return {
    run(work) {
      const done = work.catch(() => {}).finally(() => running.delete(done));
      running.add(done);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
