/** Work that goes on without anybody waiting for it, until the end of all, which waits. */
export interface Background {
  /** What becomes of it is its own affair: a failure is nobody's. */
  leave(work: Promise<unknown>): void;
  /** Resolves when none is left. */
  idle(): Promise<void>;
}

export function createBackground(): Background {
  const running = new Set<Promise<unknown>>();
  return {
    leave(work) {
      const done = work.catch(() => {}).finally(() => running.delete(done));
      running.add(done);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
