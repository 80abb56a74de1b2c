import { v7 as newOrderedId } from 'uuid';
import type { Alert } from '../definitions/alert.ts';
import type { AlertWrite, Silence } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { aboutOf, type Evaluate, measureOf } from './evaluate.ts';
import { describeStep, type HistoryEvent, writeEntry } from './history.ts';
import { type AlertMessage, createMessages, type FindLink, type Texts } from './message.ts';
import { type AlertState, type Labels, NO_STATE, resolveAll, step, type Transition } from './state.ts';

export interface EvaluationOptions {
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Names of the receivers. What fires is sent to others as soon as they exist. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink?: FindLink;
  /** Called when a change has been stored, with its messages. */
  readonly onChange?: (alert: string, events: readonly HistoryEvent[], messages: number) => void;
}

/** What is stored of an alert: its state, and what is needed to resolve it after its file has gone. */
export interface StoredAlert extends Omit<Texts, 'link'> {
  readonly state: AlertState;
  /** See `aboutOf`. */
  readonly about: string;
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
    const isSilenced = isSilencedBy(silencesOf(id, silences));
    const firing = Object.values(stored.state.instances)
      .filter(({ sentTo, labels }) => sentTo.includes(receiver) && !isSilenced(labels))
      .map((instance): Transition => ({ change: 'repeated', instance, to: [receiver] }));
    // The instances of a message share their `since`.
    const groups = Map.groupBy(firing, ({ instance }) => instance.sinceMs);
    const texts = { ...stored, link: findLink?.(stored.name) };
    const created = [...groups.values()].flatMap((own) => createMessages(texts, own, nowMs));
    return created.map(({ message }) => message);
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
  const { outcome, seen } = await options.evaluate(alert, { nowMs: tickMs - alert.delayMs, signal });
  const { id, name, severity, text, description, runbook } = alert;
  const about = aboutOf(alert);
  const old = from.states.get(id);
  const reason = old && findNewIdentity(old, { name, severity, about });
  if (old !== undefined && reason !== undefined)
    if (!(await endOne(id, { stored: old, reason, tickMs }, evaluation))) return false;
  const isSilenced = isSilencedBy(silencesOf(id, await options.store.listSilences(tickMs)));
  const known = options.receivers();
  const { state, transitions } = step(
    from.states.get(id)?.state ?? NO_STATE,
    { tickMs, outcome },
    { rules: alert, receivers: alert.to.filter((to) => known.has(to)), isSilenced },
  );
  const missing = transitions.some(({ change }) => change === 'firing')
    ? alert.to.filter((receiver) => !known.has(receiver))
    : [];
  const history = [
    ...describeStep(state, transitions),
    ...missing.map((receiver): HistoryEvent => ({ change: 'not_delivered', receiver, reason: NO_RECEIVER })),
  ];
  const next = { ...{ name, severity, text, description, runbook }, state, about };
  const texts = { ...next, link: options.findLink?.(name) };
  const point = seen && { measure: measureOf(alert), atMs: tickMs, ...seen };
  return await write(id, { next, texts, tickMs, history, transitions, point }, evaluation);
}

/** Why no message is created for a name in `to`. */
export const NO_RECEIVER = 'TAILRACE_RECEIVERS_FILE has no receiver of this name';

/** Finds why an alert begins anew: receivers know what it has sent by its name and severity. */
function findNewIdentity(
  old: StoredAlert,
  { name, severity, about }: Pick<StoredAlert, 'name' | 'severity' | 'about'>,
): string | undefined {
  if (old.about !== about) return 'its endpoint or parameters have changed';
  if (old.name !== name) return `it is called ${name} now`;
  return old.severity === severity ? undefined : `its severity is ${severity} now`;
}

/** What ends: a stored alert whose file has gone, or is of another alert now. */
interface Ending {
  readonly stored: StoredAlert;
  readonly reason: string;
  readonly tickMs: number;
}

/** Forgets an alert: resolves what fires, for whoever has heard of it. @returns as `evaluateOne` */
export async function endOne(
  id: string,
  { stored, reason, tickMs }: Ending,
  evaluation: Evaluation,
): Promise<boolean> {
  const transitions = resolveAll(stored.state);
  // Braces would be read as a placeholder.
  const texts = { ...stored, text: `${stored.name}: ${reason}`.replaceAll('{', '(') };
  const events = describeStep({ failures: 0 }, transitions);
  const history: HistoryEvent[] = events.length === 0 ? [] : [{ change: 'note', reason }, ...events];
  return await write(id, { next: undefined, texts, tickMs, history, transitions }, evaluation);
}

interface Result {
  /** `undefined`: the alert is gone. */
  readonly next: StoredAlert | undefined;
  readonly texts: Texts & Pick<StoredAlert, 'about'>;
  readonly tickMs: number;
  readonly history: readonly HistoryEvent[];
  readonly transitions: readonly Transition[];
  readonly point?: AlertWrite['point'];
}

async function write(id: string, result: Result, { from, options }: Evaluation): Promise<boolean> {
  const { next, texts, tickMs, history, transitions, point } = result;
  const messages = createMessages(texts, transitions, tickMs).flatMap(({ to, message }) =>
    to.map((receiver) => ({ id: newOrderedId(), receiver, message: JSON.stringify(message) })),
  );
  const isWritten = await options.store.write({
    ...{ fence: from.fence, alert: id, messages, point, atMs: options.now() },
    // After a loss of power, what only waits for `for` begins again, as after any time without evaluations.
    isDurable: history.length + messages.length > 0,
    state: next === undefined ? undefined : JSON.stringify(next),
    history: history.map((event) => ({
      id: newOrderedId(),
      atMs: tickMs,
      entry: writeEntry(event, texts.about),
    })),
  });
  if (!isWritten) return false;
  if (next === undefined) from.states.delete(id);
  else from.states.set(id, next);
  if (history.length + messages.length > 0) options.onChange?.(texts.name, history, messages.length);
  return true;
}

/** Returns the silences of an alert. @param id of the alert */
export function silencesOf(id: string, silences: readonly Silence[]): readonly Silence[] {
  return silences.filter(({ alert }) => alert === id);
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
