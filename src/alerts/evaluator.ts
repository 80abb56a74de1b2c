import { v7 as newOrderedId } from 'uuid';
import type { Alert } from '../definitions/alert.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import type { Judgement } from './condition.ts';
import type { Evaluate } from './evaluate.ts';
import { describeTransitions, type HistoryEvent, writeEntry } from './history.ts';
import { createMessages } from './message.ts';
import { writeMessage } from './outbox.ts';
import { isSilencedBy } from './silence.ts';
import { type AlertState, NO_STATE, step, type Transition } from './state.ts';
import { lastTick } from './tick.ts';

export interface EvaluatorOptions {
  /** The served alerts. */
  readonly alerts: () => readonly Alert[];
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** Unique among the processes on the store. */
  readonly owner: string;
  /** Life of the lease: after so long, another process goes on for one that died. */
  readonly leaseMs: number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** A plausible time, ms since the epoch: a clock that jumps must not let every alert change. */
  readonly now: () => number;
  /** Names of the receivers; messages to others are not stored. */
  readonly receivers: () => ReadonlySet<string>;
  /** Called when messages have been stored. */
  readonly onMessages?: () => void;
  /** Called after each evaluation. @param error of the store: the evaluation is repeated */
  readonly onEvaluated?: (alert: string, error?: unknown) => void;
}

/** Evaluates alerts while this process holds the lease. */
export interface Evaluator {
  /** Takes or renews the lease; for a task. */
  renew(): Promise<void>;
  /** Starts the evaluations that are due; for a task. */
  tick(): void;
  /** Resolves when the running evaluations have ended. */
  idle(): Promise<void>;
  isLeader(): boolean;
  /** Aborts running evaluations, which are repeated by the next process, and gives the lease back. */
  close(): Promise<void>;
}

/** What is stored of an alert: its state, and what is needed to resolve it after its file has gone. */
export interface StoredAlert extends Pick<Alert, 'name' | 'severity' | 'text' | 'to'> {
  readonly state: AlertState;
}

// Chances to renew a lease in its life.
const RENEWALS = 3;
// Queries at once; a thousand alerts must not fill the queue.
const CONCURRENCY_MAX = 4;

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  const { store, owner, onEvaluated } = options;
  const renewal = { isFirst: true, atMs: Number.NEGATIVE_INFINITY };
  const running = new Map<string, Promise<void>>();
  const end = new AbortController();
  /** While the lease is held: its fencing number, and the state of each alert as it is stored. */
  let held: Held | undefined;

  /** Whether there may be something to do: alerts, or the states of alerts whose files have gone. */
  function isNeeded(): boolean {
    return renewal.isFirst || options.alerts().length > 0 || (held?.states.size ?? 0) > 0;
  }

  async function renew(): Promise<void> {
    const atMs = options.ticks();
    const isRecent = held !== undefined && atMs - renewal.atMs < options.leaseMs / RENEWALS;
    if (end.signal.aborted || isRecent || !isNeeded()) return;
    try {
      const fence = await store.lease(owner, options.leaseMs);
      renewal.atMs = atMs;
      if (fence === held?.fence) return;
      held = undefined;
      if (fence !== undefined) held = { fence, states: await readStates(store) };
      renewal.isFirst = false;
    } catch (error) {
      held = undefined;
      throw error;
    }
  }

  function start({ id, name, from, run }: Work): void {
    const evaluation = run({ from, options, signal: end.signal })
      .then((isWritten) => {
        if (!isWritten && held === from) held = undefined; // another process has the lease
        onEvaluated?.(name);
      })
      .catch((error: unknown) => {
        // Nobody knows whether it was written: the states are read again.
        if (held === from) held = undefined;
        if (!end.signal.aborted) onEvaluated?.(name, error);
      })
      .finally(() => {
        running.delete(id);
        tick();
      });
    running.set(id, evaluation);
  }

  function tick(): void {
    if (held === undefined || end.signal.aborted) return;
    for (const work of findDue(held, options)) {
      if (running.size >= CONCURRENCY_MAX) return; // the next one to end calls again
      if (!running.has(work.id)) start(work);
    }
  }

  return {
    renew,
    tick,
    idle: async () => void (await Promise.all(running.values())),
    isLeader: () => held !== undefined,
    async close() {
      end.abort(new Error('Tailrace is stopping'));
      await Promise.all(running.values());
      if (held !== undefined) await store.release(owner).catch(() => {}); // it ends by itself
      held = undefined;
    },
  };
}

interface Work {
  readonly id: string;
  readonly name: string;
  readonly from: Held;
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
    if (isDue(alert, from.states.get(id)?.state.tickMs, tickMs))
      yield { id, name, from, run: (evaluation) => evaluateOne(alert, tickMs, evaluation) };
  }
  const ids = new Set(served.map(({ id }) => id));
  for (const [id, stored] of from.states)
    if (!ids.has(id))
      yield { id, name: stored.name, from, run: (evaluation) => endOne(id, stored, evaluation) };
}

interface Held {
  readonly fence: number;
  readonly states: Map<string, StoredAlert>;
}

async function readStates(store: AlertStore): Promise<Map<string, StoredAlert>> {
  const states = await store.readStates();
  return new Map([...states].map(([id, text]) => [id, readStored(text)]));
}

/** Reads a state of the store. */
export function readStored(text: string): StoredAlert {
  return JSON.parse(text) as StoredAlert; // written by `write`
}

/** Whether a tick has not been evaluated. The clock may have been set back by more than an interval. */
function isDue({ everyMs }: Alert, doneMs: number | undefined, tickMs: number): boolean {
  return doneMs === undefined || tickMs > doneMs || doneMs - tickMs > everyMs;
}

interface Evaluation {
  readonly from: Held;
  readonly options: EvaluatorOptions;
  readonly signal: AbortSignal;
}

async function evaluateOne(alert: Alert, tickMs: number, evaluation: Evaluation): Promise<boolean> {
  const { from, options, signal } = evaluation;
  const { evaluate, store } = options;
  const judged = await evaluate(alert, { nowMs: tickMs - alert.delayMs, signal });
  const before = from.states.get(alert.id)?.state ?? NO_STATE;
  const silences = (await store.listSilences(tickMs)).filter((one) => one.alert === alert.id);
  const isSilenced = isSilencedBy(silences);
  const { state, transitions } = step(
    before,
    { tickMs, outcome: judged.outcome },
    { rules: alert, isSilenced },
  );
  const { name, severity, text, to } = alert;
  const history = [...describeJudgement(judged, state), ...describeTransitions(transitions)];
  const next = { name, severity, text, to, state };
  return await write(alert.id, { next, texts: next, tickMs, history, transitions }, evaluation);
}

function describeJudgement({ outcome, notes }: Judgement, { failures }: AlertState): HistoryEvent[] {
  const noted = notes.map((reason): HistoryEvent => ({ change: 'note', reason }));
  if (outcome.kind !== 'failed' || failures !== 1) return noted;
  return [...noted, { change: 'failed', reason: outcome.reason }];
}

/** Resolves what fired of an alert whose file has gone. */
async function endOne(id: string, stored: StoredAlert, evaluation: Evaluation): Promise<boolean> {
  const { instances, owed } = stored.state;
  const fired = Object.values({ ...owed, ...instances }).filter(({ sentMs }) => sentMs !== undefined);
  const transitions = fired.map((instance): Transition => ({ change: 'resolved', instance, send: true }));
  const tickMs = evaluation.options.now();
  const reason = 'the alert was removed from the definitions';
  const history: HistoryEvent[] = [{ change: 'note', reason }, ...describeTransitions(transitions)];
  const texts = { ...stored, text: `${stored.name}: ${reason}` };
  return await write(id, { next: undefined, texts, tickMs, history, transitions }, evaluation);
}

interface Result {
  /** `undefined`: the alert is gone. */
  readonly next: StoredAlert | undefined;
  readonly texts: Pick<StoredAlert, 'name' | 'severity' | 'text' | 'to'>;
  readonly tickMs: number;
  readonly history: readonly HistoryEvent[];
  readonly transitions: readonly Transition[];
}

async function write(id: string, result: Result, { from, options }: Evaluation): Promise<boolean> {
  const { next, texts, tickMs, history, transitions } = result;
  const known = options.receivers();
  const created = createMessages(texts, transitions, tickMs);
  const messages = created.flatMap((message) =>
    texts.to
      .filter((receiver) => known.has(receiver))
      .map((receiver) => ({
        ...{ id: newOrderedId(), receiver },
        message: writeMessage({ alertId: id, message }),
      })),
  );
  const unsent = texts.to.filter((receiver) => created.length > 0 && !known.has(receiver));
  const reason = 'TAILRACE_RECEIVERS_FILE has no receiver of this name';
  const events = [
    ...history,
    ...unsent.map((receiver): HistoryEvent => ({ change: 'not_delivered', receiver, reason })),
  ];
  const isWritten = await options.store.write({
    ...{ fence: from.fence, alert: id, messages, atMs: options.now() },
    state: next === undefined ? undefined : JSON.stringify(next),
    history: events.map((event) => ({ id: newOrderedId(), atMs: tickMs, entry: writeEntry(event) })),
  });
  if (!isWritten) return false;
  if (next === undefined) from.states.delete(id);
  else from.states.set(id, next);
  if (messages.length > 0) options.onMessages?.();
  return true;
}
