import type { AlertMessage, Outbox, OutboxMessage } from '../../src/alerts/outbox.ts';

/** An outbox without a store: what is due comes in the order of `put`. */
export interface MemoryOutbox extends Outbox {
  put(receiver: string, message: AlertMessage, firstAtMs: number): string;
  readonly waiting: ReadonlyMap<
    string,
    OutboxMessage & { readonly dueAtMs: number; readonly reason?: string }
  >;
  readonly finished: readonly string[];
  readonly givenUp: ReadonlyMap<string, string>;
  /** Every method rejects with it while it is set. */
  failure: Error | undefined;
  isSilenced: (labels: Readonly<Record<string, string>>) => boolean;
  clear(): void;
}

export function createMemoryOutbox(): MemoryOutbox {
  const waiting = new Map<string, OutboxMessage & { dueAtMs: number; reason?: string }>();
  const finished: string[] = [];
  const givenUp = new Map<string, string>();
  let put = 0;

  const outbox: MemoryOutbox = {
    waiting,
    finished,
    givenUp,
    failure: undefined,
    isSilenced: () => false,
    put(receiver, message, firstAtMs) {
      const id = `msg_${++put}`;
      waiting.set(id, { id, receiver, message, tries: 0, firstAtMs, dueAtMs: firstAtMs });
      return id;
    },
    clear() {
      waiting.clear();
      givenUp.clear();
      finished.length = 0;
      put = 0;
      outbox.failure = undefined;
      outbox.isSilenced = () => false;
    },
    async next(receiver, nowMs) {
      check();
      return [...waiting.values()].find((one) => one.receiver === receiver && one.dueAtMs <= nowMs);
    },
    async done(id) {
      check();
      if (waiting.delete(id)) finished.push(id);
    },
    async again(id, dueAtMs, reason) {
      check();
      const one = waiting.get(id);
      if (one !== undefined) waiting.set(id, { ...one, tries: one.tries + 1, dueAtMs, reason });
    },
    async giveUp(id, reason) {
      check();
      if (waiting.delete(id)) givenUp.set(id, reason);
    },
    async queues() {
      check();
      const byReceiver = Map.groupBy(waiting.values(), ({ receiver }) => receiver);
      return [...byReceiver].map(([receiver, { length: messages }]) => ({ receiver, messages }));
    },
    async silenced() {
      check();
      return outbox.isSilenced;
    },
  };

  function check(): void {
    if (outbox.failure !== undefined) throw outbox.failure;
  }

  return outbox;
}
