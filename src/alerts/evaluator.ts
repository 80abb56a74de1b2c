import type { Alert } from '../definitions/alert.ts';
import { aboutOf } from './evaluate.ts';
import {
  type Change,
  type EvaluationOptions,
  endAlert,
  evaluateAlert,
  type HistoryEvent,
  readStored,
  type StoredAlert,
  toWrite,
} from './evaluation.ts';

export interface EvaluatorOptions extends EvaluationOptions {
  /** The served alerts. */
  readonly alerts: () => readonly Alert[];
  /** Unique among the processes on the store. */
  readonly owner: string;
  /** Life of the lease: after so long, another process goes on for one that died. */
  readonly leaseMs: () => number;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** Called when a change has been stored, with the number of its messages. */
  readonly onChange?: (alert: string, events: readonly HistoryEvent[], messages: number) => void;
  /** Called after each evaluation. @param error of the store: the evaluation is repeated */
  readonly onEvaluated?: (alert: string, error?: unknown) => void;
}

/** What a process knows while it holds the lease: its fencing number, and the state of each alert as it is stored. */
interface Held {
  readonly fence: number;
  readonly states: Map<string, StoredAlert>;
}

/** An alert with something to do: a tick that has not been evaluated, or a file that has gone. */
interface Due {
  readonly id: string;
  readonly name: string;
  /** Its alert is evaluated together with others of the same group, with which it shares a query. */
  readonly group: string;
  /** The tick of its last evaluation; 0: there was none. */
  readonly lastMs: number;
  readonly decide: (signal: AbortSignal) => Change | Promise<Change>;
}

// Chances to renew a lease in its life.
const RENEWALS = 3;
// A process without the lease asks for it at least so often.
const ASK_MS_MAX = 1_000;
// Groups at once; a thousand alerts must not fill the queue.
const CONCURRENCY_MAX = 4;

/** Evaluates alerts while this process holds the lease. */
export function createEvaluator(options: EvaluatorOptions) {
  const { store, now, onChange, onEvaluated } = options;
  const lease = createLease(options);
  /** By group. */
  const running = new Map<string, Promise<unknown>>();
  /** Ids of alerts that are evaluated: one that is edited or removed meanwhile belongs to another group. */
  const busy = new Set<string>();
  const end = new AbortController();

  /** Starts the evaluations that are due; for a task. */
  function tick(): void {
    const held = lease.held();
    if (held === undefined || end.signal.aborted) return;
    const due = findDue(held, options).filter(({ id, group }) => !busy.has(id) && !running.has(group));
    // Whatever has waited longest comes first: a few slow alerts, due again as they end, must not keep the rest waiting.
    due.sort((a, b) => a.lastMs - b.lastMs);
    const waiting = [...Map.groupBy(due, ({ group }) => group)];
    for (const [group, all] of waiting.slice(0, CONCURRENCY_MAX - running.size)) {
      const ended = Promise.all(all.map((one) => run(one, held))).finally(() => {
        running.delete(group);
        tick();
      });
      running.set(group, ended);
    }
  }

  async function run({ id, name, decide }: Due, held: Held): Promise<void> {
    busy.add(id);
    try {
      await write(id, await decide(end.signal), held);
      onEvaluated?.(name);
    } catch (error) {
      lease.giveUp(held); // nobody knows whether it was written
      if (!end.signal.aborted) onEvaluated?.(name, error);
    } finally {
      busy.delete(id);
    }
  }

  async function write(id: string, change: Change, held: Held): Promise<void> {
    const written = toWrite(id, change);
    const isWritten = await store.write({ ...written, fence: held.fence, atMs: now() });
    if (!isWritten) return lease.giveUp(held); // another process has it
    if (change.next === undefined) held.states.delete(id);
    else held.states.set(id, change.next);
    const name = change.news.at(-1)?.texts.name ?? '';
    const events = change.news.flatMap((one) => one.events);
    if (written.isDurable) onChange?.(name, events, written.messages.length);
  }

  return {
    /** Takes or renews the lease; for a task. */
    renew: () => (end.signal.aborted ? undefined : lease.renew()),
    tick,
    /** Resolves when the running evaluations have ended. */
    idle: async () => void (await Promise.all(running.values())),
    isLeader: () => lease.held() !== undefined,
    /** The instances of an alert, while this process has the lease. */
    instancesOf: (id: string) => Object.values(lease.held()?.states.get(id)?.state.instances ?? {}),
    /** Aborts running evaluations, which are repeated by the next process, and gives the lease back. */
    async close(): Promise<void> {
      end.abort(new Error('Tailrace is stopping'));
      await Promise.all(running.values());
      await lease.release();
    },
  };
}

/**
 * The lease. It is given up whenever another process may have written, or this one does not know whether it has: the next
 * renewal reads the states anew.
 */
function createLease({ store, owner, leaseMs, ticks, alerts }: EvaluatorOptions) {
  let held: Held | undefined;
  let isFirst = true;
  let askedMs = Number.NEGATIVE_INFINITY;

  /** Whether there may be something to do: alerts, or the states of alerts whose files have gone. */
  const isNeeded = () => isFirst || alerts().length > 0 || (held?.states.size ?? 0) > 0;

  function giveUp(from = held): void {
    if (held !== from) return;
    held = undefined;
    askedMs = Number.NEGATIVE_INFINITY;
  }

  return {
    held: () => held,
    giveUp,
    async renew(): Promise<void> {
      const atMs = ticks();
      const lifeMs = leaseMs();
      const restMs = Math.min(lifeMs / RENEWALS, held === undefined ? ASK_MS_MAX : lifeMs);
      if (atMs - askedMs < restMs || !isNeeded()) return;
      try {
        const fence = await store.lease(owner, lifeMs);
        askedMs = atMs;
        if (fence === held?.fence) return;
        held = undefined;
        if (fence !== undefined) {
          const states = await store.readStates();
          held = { fence, states: new Map([...states].map(([id, text]) => [id, readStored(text)])) };
        }
        isFirst = false;
      } catch (error) {
        giveUp();
        throw error;
      }
    },
    async release(): Promise<void> {
      if (held !== undefined) await store.release(owner).catch(() => {}); // it ends by itself
      held = undefined;
    },
  };
}

function findDue({ states }: Held, options: EvaluatorOptions): Due[] {
  const nowMs = options.now();
  const served = options.alerts();
  const removed = new Map(states);
  const due: Due[] = [];
  for (const alert of served) {
    const { id, name } = alert;
    removed.delete(id);
    const stored = states.get(id);
    const doneMs = stored?.state.tickMs;
    const tickMs = lastTick(alert, nowMs);
    // The clock may have been set back by more than an interval.
    const isDone = doneMs !== undefined && tickMs <= doneMs && doneMs - tickMs <= alert.everyMs;
    if (isDone) continue;
    const decide: Due['decide'] = (signal) =>
      evaluateAlert(alert, { tickMs, stored }, { ...options, signal });
    due.push({ id, name, group: `${aboutOf(alert)} ${alert.delayMs}`, lastMs: doneMs ?? 0, decide });
  }
  for (const [id, stored] of removed) {
    const { name, state } = stored;
    due.push({ id, name, group: id, lastMs: state.tickMs ?? 0, decide: () => endAlert(stored, nowMs) });
  }
  return due;
}

// A daily alert still runs in the first minute of its day.
const JITTER_MS_MAX = 60_000;
const JITTER_DIGITS = 8;

type Ticking = Pick<Alert, 'endpoint' | 'parameters' | 'everyMs'>;

/**
 * Returns the last tick of an alert at or before an instant. Alerts of one interval tick at different times, but those
 * on the same endpoint with the same parameters together, so that they share a query.
 */
export function lastTick(alert: Ticking, atMs: number): number {
  const { everyMs } = alert;
  const jitterMs =
    Number.parseInt(aboutOf(alert).slice(0, JITTER_DIGITS), 16) % Math.min(everyMs, JITTER_MS_MAX);
  return Math.floor((atMs - jitterMs) / everyMs) * everyMs + jitterMs;
}
