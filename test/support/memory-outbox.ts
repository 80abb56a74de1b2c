import type { AlertMessage } from '../../src/alerts/message.ts';
import type { Outbox, OutboxMessage } from '../../src/alerts/outbox.ts';

/** An outbox without a store: what is due comes in the order of `put`. */
export function createMemoryOutbox() {
  const waiting = new Map<string, OutboxMessage & { dueAtMs: number }>();
  const finished: string[] = [];
  const givenUp = new Map<string, string>();
  let created = 0;
  /** Every method rejects with `failure` while it is set. */
  const state = { failure: undefined as Error | undefined };

  const outbox: Omit<Outbox, 'findStale'> = {
    async next(receiver, nowMs) {
      check();
      return [...waiting.values()].find((one) => one.receiver === receiver && one.dueAtMs <= nowMs);
    },
    async done({ id }) {
      check();
      if (waiting.delete(id)) finished.push(id);
    },
    async again(id, dueAtMs, reason) {
      check();
      const one = waiting.get(id);
      if (one !== undefined) waiting.set(id, { ...one, tries: one.tries + 1, dueAtMs, reason });
    },
    async giveUp({ id }, reason) {
      check();
      if (waiting.delete(id)) givenUp.set(id, reason);
    },
  };

  function check(): void {
    if (state.failure !== undefined) throw state.failure;
  }

  return Object.assign(state, outbox, {
    ...{ waiting, finished, givenUp },
    put(receiver: string, message: AlertMessage, firstMs: number): string {
      const id = `msg_${++created}`;
      waiting.set(id, { id, receiver, alert: '', message, tries: 0, firstMs, reason: '', dueAtMs: firstMs });
      return id;
    },
    clear() {
      waiting.clear();
      givenUp.clear();
      finished.length = 0;
      created = 0;
      state.failure = undefined;
    },
  });
}
