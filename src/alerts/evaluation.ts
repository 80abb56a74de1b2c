import { v7 as newOrderedId } from 'uuid';
import type { Alert } from '../definitions/alert.ts';
import { type AlertWrite, EVERY_ALERT, type Silence } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { aboutOf, measureOf } from './condition.ts';
import type { Evaluate } from './evaluate.ts';
import { describeJudgement, describeTransitions, type HistoryEvent, writeEntry } from './history.ts';
import { createMessages, type FindLink, type Texts } from './message.ts';
import { type AlertMessage, NO_RECEIVER, writeMessage } from './outbox.ts';
import { type AlertState, type Labels, NO_STATE, step, type Transition } from './state.ts';

export interface EvaluationOptions {
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** A plausible time, ms since the epoch: a clock that jumps must not let every alert change. */
  readonly now: () => number;
  /** Names of the receivers; messages to others are not stored. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink?: FindLink;
  /** Called when messages have been stored. */
  readonly onMessages?: () => void;
}

/** What is stored of an alert: its state, and what is needed to resolve it after its file has gone. */
export interface StoredAlert extends Pick<Alert, 'name' | 'severity' | 'text' | 'to'> {
  readonly state: AlertState;
  /** See `aboutOf`. */
  readonly about: string;
  /** Notes of the last evaluation, each of which is in the history once. */
  readonly notes?: readonly string[];
}

/** Reads a state of the store. */
export function readStored(text: string): StoredAlert {
  return JSON.parse(text) as StoredAlert; // written by `write`
}

/**
 * Lists what fires of the alerts of a receiver, except what is silenced: messages for a receiver that forgets them.
 *
 * @param nowMs ms since the epoch
 */
export async function listFiring(
  store: Pick<AlertStore, 'readStates' | 'listSilences'>,
  { receiver, nowMs, findLink }: { receiver: string; nowMs: number; findLink?: FindLink | undefined },
): Promise<AlertMessage[]> {
  const [states, silences] = await Promise.all([store.readStates(), store.listSilences(nowMs)]);
  return [...states].flatMap(([id, text]) => {
    const stored = readStored(text);
    if (!stored.to.includes(receiver)) return [];
    const isSilenced = isSilencedBy(silencesOf(id, silences));
    const firing = Object.values(stored.state.instances)
      .filter(
        ({ phase, sentMs, labels }) => phase === 'firing' && sentMs !== undefined && !isSilenced(labels),
      )
      .map((instance): Transition => ({ change: 'repeated', instance, send: true }));
    // The instances of a message share their `since`.
    const groups = Map.groupBy(firing, ({ instance }) => instance.sinceMs);
    const texts = { ...stored, link: findLink?.(stored.name) };
    return [...groups.values()].flatMap((own) => createMessages(texts, own, { atMs: nowMs }));
  });
}

/** What a process knows while it holds the lease: its fencing number, and the state of each alert as it is stored. */
export interface Held {
  readonly fence: number;
  readonly states: Map<string, StoredAlert>;
}

/** One evaluation while it runs. */
export interface Evaluation {
  readonly from: Held;
  readonly options: EvaluationOptions;
  readonly signal: AbortSignal;
}

/** Evaluates an alert at a tick. @returns whether the result was written: this process still has the lease */
export async function evaluateOne(alert: Alert, tickMs: number, evaluation: Evaluation): Promise<boolean> {
  const { from, options, signal } = evaluation;
  const { evaluate, store } = options;
  const judged = await evaluate(alert, { nowMs: tickMs - alert.delayMs, signal });
  if (!(await endOld(alert, tickMs, evaluation))) return false;
  const stored = from.states.get(alert.id);
  const before = stored?.state ?? NO_STATE;
  const silences = silencesOf(alert.id, await store.listSilences(tickMs));
  const isSilenced = isSilencedBy(silences);
  const { state, transitions } = step(
    before,
    { tickMs, outcome: judged.outcome },
    { rules: alert, isSilenced },
  );
  const { name, severity, text, to } = alert;
  const history = [...describeJudgement(judged, state, stored?.notes), ...describeTransitions(transitions)];
  const { notes } = judged;
  const next = { name, severity, text, to, state, about: aboutOf(alert), ...(notes.length > 0 && { notes }) };
  const texts = { ...next, link: options.findLink?.(name) };
  const point = judged.seen && { measure: measureOf(alert), atMs: tickMs, ...judged.seen };
  return await write(alert.id, { next, texts, tickMs, history, transitions, point }, evaluation);
}

/** Resolves what fired of an alert whose file has gone. @returns as `evaluateOne` */
export async function endOne(id: string, stored: StoredAlert, evaluation: Evaluation): Promise<boolean> {
  const reason = 'the alert was removed from the definitions';
  const tickMs = evaluation.options.now();
  // If the file comes back before the next tick, the last one is evaluated again, and what it sends must be newer than this.
  const messageMs = Math.min(stored.state.tickMs ?? tickMs, tickMs);
  return await end(id, { stored, reason, tickMs, messageMs }, evaluation);
}

/**
 * Resolves what receivers would never hear of again: what an alert of another name or about other rows has sent, which
 * begins anew, and what
 * was sent to receivers that it no longer has.
 *
 * @returns as `evaluateOne`
 */
async function endOld(alert: Alert, tickMs: number, evaluation: Evaluation): Promise<boolean> {
  const { from, options } = evaluation;
  const stored = from.states.get(alert.id);
  if (stored === undefined) return true;
  if (stored.about !== aboutOf(alert) || stored.name !== alert.name) {
    const what =
      stored.name === alert.name ? 'its endpoint or parameters have changed' : 'it has another name';
    return await end(alert.id, { stored, reason: what, tickMs }, evaluation);
  }
  const known = options.receivers();
  const dropped = stored.to.filter((name) => !alert.to.includes(name) && known.has(name));
  if (dropped.length === 0 || resolveAll(stored).length === 0) return true;
  const next = { ...stored, to: stored.to.filter((name) => !dropped.includes(name)) };
  const reason = `it is no longer sent to ${dropped.join(', ')}`;
  return await end(alert.id, { stored: { ...stored, to: dropped }, reason, tickMs, next }, evaluation);
}

interface Ending extends Pick<Result, 'tickMs' | 'messageMs'> {
  readonly stored: StoredAlert;
  readonly reason: string;
  /** What goes on for other receivers. */
  readonly next?: StoredAlert;
}

async function end(
  id: string,
  { stored, reason, tickMs, messageMs, next }: Ending,
  evaluation: Evaluation,
): Promise<boolean> {
  const transitions = resolveAll(stored);
  const note: HistoryEvent = { change: 'note', reason };
  const history = next === undefined ? [note, ...describeTransitions(transitions)] : [note];
  const texts = { ...stored, text: `${stored.name}: ${reason}` };
  return await write(id, { next, texts, tickMs, messageMs, history, transitions }, evaluation);
}

/** Resolves the instances that receivers know of. */
function resolveAll({ state: { instances, unreported } }: StoredAlert): Transition[] {
  return Object.values({ ...unreported, ...instances })
    .filter(({ sentMs }) => sentMs !== undefined)
    .map((instance) => ({ change: 'resolved', instance, send: true }));
}

interface Result {
  /** `undefined`: the alert is gone. */
  readonly next: StoredAlert | undefined;
  readonly texts: Texts & Pick<StoredAlert, 'to' | 'about'>;
  readonly tickMs: number;
  /** The time in messages, if it is not the tick. */
  readonly messageMs?: number | undefined;
  readonly history: readonly HistoryEvent[];
  readonly transitions: readonly Transition[];
  readonly point?: AlertWrite['point'];
}

async function write(id: string, result: Result, { from, options }: Evaluation): Promise<boolean> {
  const { next, texts, tickMs, messageMs = tickMs, history, transitions, point } = result;
  const known = options.receivers();
  const created = createMessages(texts, transitions, { atMs: messageMs });
  const messages = created.flatMap((message) =>
    texts.to
      .filter((receiver) => known.has(receiver))
      .map((receiver) => ({
        ...{ id: newOrderedId(), receiver },
        message: writeMessage({ alertId: id, message }),
      })),
  );
  const unsent = texts.to.filter((receiver) => created.length > 0 && !known.has(receiver));
  const events = [
    ...history,
    ...unsent.map((receiver): HistoryEvent => ({ change: 'not_delivered', receiver, reason: NO_RECEIVER })),
  ];
  const before = from.states.get(id);
  const isDurable = events.length + messages.length > 0 || hasChanged(before?.state, next?.state);
  const isWritten = await options.store.write({
    ...{ fence: from.fence, alert: id, messages, point, atMs: options.now(), isDurable },
    state: next === undefined ? undefined : JSON.stringify(next),
    history: events.map((event) => ({
      id: newOrderedId(),
      atMs: tickMs,
      entry: writeEntry(event, texts.about),
    })),
  });
  if (!isWritten) return false;
  if (next === undefined) from.states.delete(id);
  else from.states.set(id, next);
  if (messages.length > 0) options.onMessages?.();
  return true;
}

/** Whether more has changed than the tick and the values: then the state must survive a loss of power. */
function hasChanged(before: AlertState | undefined, next: AlertState | undefined): boolean {
  const outline = (state: AlertState | undefined) =>
    state && [
      ...[state.failures, Object.keys(state.unreported)],
      ...Object.entries(state.instances).map(([key, { phase, sinceMs, quietMs, sentMs }]) => [
        ...[key, phase, sinceMs, quietMs, sentMs],
      ]),
    ];
  return JSON.stringify(outline(before)) !== JSON.stringify(outline(next));
}

/** Returns the silences that may cover instances of an alert: its own, and those of every alert. @param id of the alert */
export function silencesOf(id: string, silences: readonly Silence[]): readonly Silence[] {
  return silences.filter(({ alert }) => alert === id || alert === EVERY_ALERT);
}

/** Returns whether one of these silences covers an instance: it has all labels of the silence. */
function isSilencedBy(silences: readonly Silence[]): (labels: Labels) => boolean {
  const wanted = silences.map(({ labels }) => readLabels(labels));
  return (labels) =>
    wanted.some((own) => Object.entries(own).every(([name, value]) => labels[name] === value));
}

export function readLabels(text: string): Labels {
  return JSON.parse(text) as Labels; // stored as such
}
