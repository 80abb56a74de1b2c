import type { Alert } from '../definitions/alert.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { aboutOf } from './evaluate.ts';
import {
  type Evaluation,
  type EvaluationOptions,
  endOne,
  evaluateOne,
  type Held,
  readStored,
  type StoredAlert,
} from './evaluation.ts';

export interface EvaluatorOptions extends EvaluationOptions {
  /** The served alerts. */
  readonly alerts: () => readonly Alert[];
  /** Unique among the processes on the store. */
  readonly owner: string;
  /** Life of the lease: after so long, another process goes on for one that died. */
  readonly leaseMs: () => number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** Called after each evaluation. @param error of the store: the evaluation is repeated */
  readonly onEvaluated?: (alert: string, error?: unknown) => void;
}

// Chances to renew a lease in its life.
const RENEWALS = 3;
// A process without the lease asks for it at least so often.
const ASK_MS_MAX = 1_000;
// Groups of alerts that share a query, at once; a thousand alerts must not fill the queue.
const CONCURRENCY_MAX = 4;

/** Evaluates alerts while this process holds the lease. */
export function createEvaluator(options: EvaluatorOptions) {
  const { store, owner, onEvaluated } = options;
  const renewal = { isFirst: true, atMs: Number.NEGATIVE_INFINITY };
  /** By the group of their work. */
  const running = new Map<string, Promise<unknown>>();
  /** Ids of alerts that are evaluated: one that is edited or removed meanwhile belongs to another group. */
  const busy = new Set<string>();
  const end = new AbortController();
  /** While the lease is held: its fencing number, and the state of each alert as it is stored. */
  let held: Held | undefined;

  /** Whether there may be something to do: alerts, or the states of alerts whose files have gone. */
  function isNeeded(): boolean {
    return renewal.isFirst || options.alerts().length > 0 || (held?.states.size ?? 0) > 0;
  }

  /** Takes or renews the lease; for a task. */
  async function renew(): Promise<void> {
    const atMs = options.ticks();
    const leaseMs = options.leaseMs();
    const restMs = Math.min(leaseMs / RENEWALS, held === undefined ? ASK_MS_MAX : leaseMs);
    if (end.signal.aborted || atMs - renewal.atMs < restMs || !isNeeded()) return;
    try {
      const fence = await store.lease(owner, leaseMs);
      renewal.atMs = atMs;
      if (fence === held?.fence) return;
      held = undefined;
      if (fence !== undefined) held = { fence, states: await readStates(store) };
      renewal.isFirst = false;
    } catch (error) {
      drop();
      throw error;
    }
  }

  /** Gives up what is known of the lease and the states; the next renewal reads both. */
  function drop(from = held): void {
    if (held !== from) return;
    held = undefined;
    renewal.atMs = Number.NEGATIVE_INFINITY;
  }

  /** Runs what is due of one group: its evaluations at the same tick share a query. */
  function start(group: string, works: readonly Work[]): void {
    const ended = Promise.all(works.map(runOne)).finally(() => {
      running.delete(group);
      tick();
    });
    running.set(group, ended);
  }

  async function runOne({ id, name, from, run }: Work): Promise<void> {
    busy.add(id);
    try {
      const isWritten = await run({ from, options, signal: end.signal });
      if (!isWritten) drop(from); // another process has the lease
      onEvaluated?.(name);
    } catch (error) {
      // Nobody knows whether it was written: the states are read again.
      drop(from);
      if (!end.signal.aborted) onEvaluated?.(name, error);
    } finally {
      busy.delete(id);
    }
  }

  /** Starts the evaluations that are due; for a task. */
  function tick(): void {
    if (held === undefined || end.signal.aborted) return;
    // Whatever has waited longest comes first: a few slow alerts, due again as they end, must not keep the rest waiting.
    const due = [...findDue(held, options)].filter(({ id }) => !busy.has(id));
    const groups = Map.groupBy(
      due.toSorted((a, b) => a.lastMs - b.lastMs),
      ({ group }) => group,
    );
    // The next one to end calls again.
    const room = CONCURRENCY_MAX - running.size;
    const waiting = [...groups].filter(([group]) => !running.has(group));
    for (const [group, works] of waiting.slice(0, room)) start(group, works);
  }

  return {
    renew,
    tick,
    /** Resolves when the running evaluations have ended. */
    idle: async () => void (await Promise.all(running.values())),
    isLeader: () => held !== undefined,
    /** Aborts running evaluations, which are repeated by the next process, and gives the lease back. */
    async close(): Promise<void> {
      end.abort(new Error('Tailrace is stopping'));
      await Promise.all(running.values());
      if (held !== undefined) await store.release(owner).catch(() => {}); // it ends by itself
      held = undefined;
    },
  };
}

interface Work {
  readonly id: string;
  /** Its alert is evaluated together with others of the same group. */
  readonly group: string;
  readonly name: string;
  readonly from: Held;
  /** The tick of its last evaluation; 0: there was none. */
  readonly lastMs: number;
  /** @returns whether its result was written: this process still has the lease */
  readonly run: (evaluation: Evaluation) => Promise<boolean>;
}

/** Finds the alerts with a tick that has not been evaluated, and those whose files have gone. */
function* findDue(from: Held, { alerts, now }: EvaluatorOptions): Generator<Work> {
  const nowMs = now();
  const served = alerts();
  for (const alert of served) {
    const { id, name } = alert;
    const tickMs = lastTick(alert, nowMs);
    const doneMs = from.states.get(id)?.state.tickMs;
    if (isDue(alert, doneMs, tickMs))
      yield {
        ...{ id, name, from, group: groupOf(alert), lastMs: doneMs ?? 0 },
        run: (running) => evaluateOne(alert, tickMs, running),
      };
  }
  const ids = new Set(served.map(({ id }) => id));
  for (const [id, stored] of from.states) {
    if (ids.has(id)) continue;
    const ending = { stored, reason: REMOVED, tickMs: nowMs };
    const lastMs = stored.state.tickMs ?? 0;
    yield { id, group: id, name: stored.name, from, lastMs, run: (running) => endOne(id, ending, running) };
  }
}

const REMOVED = 'the alert was removed from the definitions';

async function readStates(store: AlertStore): Promise<Map<string, StoredAlert>> {
  const states = await store.readStates();
  return new Map([...states].map(([id, text]) => [id, readStored(text)]));
}

/** Whether a tick has not been evaluated. The clock may have been set back by more than an interval. */
function isDue({ everyMs }: Alert, doneMs: number | undefined, tickMs: number): boolean {
  return doneMs === undefined || tickMs > doneMs || doneMs - tickMs > everyMs;
}

// A daily alert still runs in the first minute of its day.
const JITTER_MS_MAX = 60_000;
const JITTER_DIGITS = 8;

type Ticking = Pick<Alert, 'endpoint' | 'parameters' | 'everyMs'>;

function groupOf(alert: Alert): string {
  return `${aboutOf(alert)} ${alert.delayMs}`;
}

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
