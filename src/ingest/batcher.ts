export interface BatcherOptions<T> {
  /** Sends one batch; called for one at a time. A failure is final: `add` and `flush` reject with it from then on. */
  readonly send: (items: readonly T[]) => Promise<void>;
  /** A batch is sent when it reaches either bound. */
  readonly itemsMax: number;
  readonly charsMax: number;
}

/** Collects items into batches: while one batch is sent, the next is collected. */
export function createBatcher<T>({ send, itemsMax, charsMax }: BatcherOptions<T>) {
  let items: T[] = [];
  let chars = 0;
  let sends: Promise<void> = Promise.resolve();

  /** @returns a promise of all batches before this one */
  function sendBatch(): Promise<void> {
    const before = sends;
    const batch = items;
    items = [];
    chars = 0;
    sends = before.then(() => send(batch));
    sends.catch(() => {}); // the next `add` or `flush` rejects with it
    return before;
  }

  return {
    /** Adds an item; returns a promise only if the batch is full and has to wait for the one before it. */
    add(item: T, itemChars: number): Promise<void> | undefined {
      items.push(item);
      chars += itemChars;
      return items.length >= itemsMax || chars >= charsMax ? sendBatch() : undefined;
    },
    /** Resolves when every item added so far is sent. */
    async flush(): Promise<void> {
      if (items.length > 0) sendBatch().catch(() => {}); // `sends` rejects with it, too
      await sends;
    },
  };
}
