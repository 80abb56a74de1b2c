import { v7 as newOrderedId } from 'uuid';
import type { Alert } from '../definitions/alert.ts';
import type { AlertWrite, HistoryEntry, Silence } from '../keys/alerts/alert-record.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import { aboutOf, type Evaluate, measureOf } from './evaluate.ts';
import { type AlertMessage, createMessages, type FindLink, type Texts } from './message.ts';
import {
  type AlertState,
  type Labels,
  NO_STATE,
  type RowValues,
  resolveAll,
  step,
  type Transition,
} from './state.ts';

export interface EvaluationOptions {
  readonly evaluate: Evaluate;
  readonly store: AlertStore;
  /** Names of the receivers. What fires is sent to others as soon as they exist. */
  readonly receivers: () => ReadonlySet<string>;
  readonly findLink?: FindLink;
}

/** What is stored of an alert: its state, and what is needed to resolve it after its file has gone. */
export interface StoredAlert extends Omit<Texts, 'link'> {
  readonly state: AlertState;
  /** See `aboutOf`. */
  readonly about: string;
}

/** Reads a state of the store. */
export function readStored(text: string): StoredAlert {
  return JSON.parse(text) as StoredAlert; // of `toWrite`
}

/** Lists what fires of the alerts of a receiver, except what is silenced: messages for a receiver that forgets them. */
export async function listFiring(
  store: Pick<AlertStore, 'readStates' | 'listSilences'>,
  { receiver, nowMs, findLink }: { receiver: string; nowMs: number; findLink?: FindLink | undefined },
): Promise<AlertMessage[]> {
  const [states, silences] = await Promise.all([store.readStates(), store.listSilences(nowMs)]);
  return [...states].flatMap(([id, text]) => {
    const stored = readStored(text);
    const isSilenced = findSilenced(id, silences);
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

/** What changes of an alert at a tick. */
export interface Change {
  readonly tickMs: number;
  /** What is stored of it from now on; `undefined`: it is gone. */
  readonly next: StoredAlert | undefined;
  /** What has happened to it; first to what it was before, if its file is of another alert now. */
  readonly news: readonly News[];
  readonly point?: AlertWrite['point'];
}

interface News {
  readonly texts: Texts & Pick<StoredAlert, 'about'>;
  readonly events: readonly HistoryEvent[];
  readonly transitions: readonly Transition[];
}

/** Evaluates an alert at a tick. @param stored what is stored of it @throws the store's failure; the signal's reason */
export async function evaluateAlert(
  alert: Alert,
  { tickMs, stored }: { readonly tickMs: number; readonly stored: StoredAlert | undefined },
  { evaluate, store, receivers, findLink, signal }: EvaluationOptions & { readonly signal: AbortSignal },
): Promise<Change> {
  const { outcome, seen } = await evaluate(alert, { nowMs: tickMs - alert.delayMs, signal });
  const { id, name, severity, text, description, runbook, to } = alert;
  const own = { name, severity, text, description, runbook, about: aboutOf(alert) };
  const reason = stored && findNewIdentity(stored, own);
  const isSilenced = findSilenced(id, await store.listSilences(tickMs));
  const known = receivers();
  const { state, transitions } = step(
    stored === undefined || reason !== undefined ? NO_STATE : stored.state,
    { tickMs, outcome },
    { rules: alert, receivers: to.filter((receiver) => known.has(receiver)), isSilenced },
  );
  const isNew = transitions.some(({ change }) => change === 'firing');
  const missing = isNew ? to.filter((receiver) => !known.has(receiver)) : [];
  const events = [
    ...describeStep(state, transitions),
    ...missing.map((receiver): HistoryEvent => ({ change: 'not_delivered', receiver, reason: NO_RECEIVER })),
  ];
  const news = { texts: { ...own, link: findLink?.(name) }, events, transitions };
  return {
    ...{ tickMs, next: { ...own, state } },
    point: seen && { measure: measureOf(alert), atMs: tickMs, ...seen },
    news: stored && reason !== undefined ? [describeEnd(stored, reason), news] : [news],
  };
}

/** Why no message is created for a name in `to`. */
export const NO_RECEIVER = 'TAILRACE_RECEIVERS_FILE has no receiver of this name';

/** Finds why an alert begins anew: receivers know what it has sent by its name and severity. */
function findNewIdentity(old: StoredAlert, own: Omit<StoredAlert, 'state'>): string | undefined {
  if (old.about !== own.about) return 'its endpoint or parameters have changed';
  if (old.name !== own.name) return `it is called ${own.name} now`;
  return old.severity === own.severity ? undefined : `its severity is ${own.severity} now`;
}

/** Ends an alert whose file has gone. */
export function endAlert(stored: StoredAlert, tickMs: number): Change {
  const reason = 'the alert was removed from the definitions';
  return { tickMs, next: undefined, news: [describeEnd(stored, reason)] };
}

/** Resolves what fires, for whoever has heard of it. */
function describeEnd(stored: StoredAlert, reason: string): News {
  const transitions = resolveAll(stored.state);
  const events = describeStep({ failures: 0 }, transitions);
  return {
    // Braces would be read as a placeholder.
    texts: { ...stored, text: `${stored.name}: ${reason}`.replaceAll('{', '(') },
    events: events.length === 0 ? [] : [{ change: 'note', reason }, ...events],
    transitions,
  };
}

/** Returns what the store writes of a change of an alert, with its messages. */
export function toWrite(
  alert: string,
  { tickMs, next, news, point }: Change,
): Omit<AlertWrite, 'fence' | 'atMs'> {
  const addressed = news.flatMap(({ texts, transitions }) => createMessages(texts, transitions, tickMs));
  const messages = addressed.flatMap(({ to, message }) =>
    to.map((receiver) => ({ id: newOrderedId(), receiver, message: JSON.stringify(message) })),
  );
  const history = news.flatMap(({ texts, events }) =>
    events.map((event) => createEntry(event, tickMs, texts.about)),
  );
  return {
    ...{ alert, state: next && JSON.stringify(next), history, messages, point },
    // After a loss of power, what only waits for `for` begins again, as after any time without evaluations.
    isDurable: history.length + messages.length > 0,
  };
}

/** Returns the silences of an alert. @param id of the alert */
export function silencesOf(id: string, silences: readonly Silence[]): readonly Silence[] {
  return silences.filter(({ alert }) => alert === id);
}

/** Returns whether a silence of an alert covers an instance: it has all labels of the silence. */
function findSilenced(id: string, silences: readonly Silence[]): (labels: Labels) => boolean {
  const wanted = silencesOf(id, silences).map(({ labels }) => Object.entries(readLabels(labels)));
  return (labels) => wanted.some((own) => own.every(([name, value]) => labels[name] === value));
}

export function readLabels(text: string): Labels {
  return JSON.parse(text) as Labels; // stored as such
}

/** An event in the history of an alert. */
export type HistoryEvent =
  | {
      readonly change: 'firing' | 'resolved' | 'no_data' | 'error';
      readonly labels: Labels;
      readonly values: RowValues;
      /** The receivers that get a message: none during a silence. */
      readonly to: readonly string[];
    }
  /** The first failed query in a row. */
  | { readonly change: 'failed'; readonly reason: string }
  | { readonly change: 'note'; readonly reason: string }
  | { readonly change: 'delivered'; readonly receiver: string; readonly status: AlertMessage['status'] }
  | { readonly change: 'not_delivered'; readonly receiver: string; readonly reason: string };

/** @param about see `aboutOf`; `undefined`: it is about no rows */
export function createEntry(event: HistoryEvent, atMs: number, about?: string): HistoryEntry {
  return { id: newOrderedId(), atMs, entry: JSON.stringify({ ...event, about }) };
}

export function readEntry(text: string): HistoryEvent & { readonly about?: string } {
  return JSON.parse(text) as HistoryEvent & { readonly about?: string }; // of createEntry
}

/** Describes an evaluation. Messages that are sent again, or to fewer receivers, are in it once they are delivered. */
export function describeStep(
  { failures, lastError = '' }: Pick<AlertState, 'failures' | 'lastError'>,
  transitions: readonly Transition[],
): HistoryEvent[] {
  const changes = transitions.flatMap(({ change, instance, to }): HistoryEvent[] => {
    const { kind, labels, values } = instance;
    if (change !== 'resolved' && change !== 'firing') return [];
    return [{ change: change === 'resolved' || kind === 'condition' ? change : kind, labels, values, to }];
  });
  return failures === 1 ? [{ change: 'failed', reason: lastError }, ...changes] : changes;
}
