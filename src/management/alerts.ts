import { aboutOf, chartColumn, measureOf } from '../alerts/condition.ts';
import { readStored, type StoredAlert, silencesOf } from '../alerts/evaluation.ts';
import { lastTick } from '../alerts/evaluator.ts';
import { readAbout, readEntry } from '../alerts/history.ts';
import type { Instance } from '../alerts/state.ts';
import type { Alert } from '../definitions/alert.ts';
import {
  type AlertPoint,
  EVERY_ALERT,
  type HistoryEntry,
  type Silence,
} from '../keys/alerts/alert-record.ts';
import { type AlertParts, getVisible, isLimited, isVisible, type Reach } from './alert-access.ts';
import type { AlertDetailView, AlertEntryView, AlertView } from './alert-view.ts';
import { mayCover, toSilenceView, toTime } from './silences.ts';

const DAY_MS = 86_400_000;

/** Lists the alerts of the endpoints that the caller may read, by name. */
export async function listAlerts(parts: AlertParts, caller: Reach): Promise<AlertView[]> {
  const visible = parts.registry.alerts.filter((alert) => isVisible(parts, caller, alert));
  const sorted = visible.toSorted((a, b) => a.name.localeCompare(b.name));
  const describe = await createDescribe(parts, caller);
  return sorted.map(describe);
}

/** Describes one alert, with what its evaluations saw in the last day. @throws TailraceError `not_found` */
export async function readAlert(parts: AlertParts, caller: Reach, name: string): Promise<AlertDetailView> {
  const alert = getVisible(parts, caller, name);
  const nowMs = parts.now();
  const range = { measure: measureOf(alert), fromMs: nowMs - DAY_MS, untilMs: nowMs };
  const [describe, points] = await Promise.all([
    createDescribe(parts, caller),
    parts.control.alerts.listPoints(alert.id, range),
  ]);
  return { ...describe(alert), chart: toChart(alert, points) };
}

/** Reads what is stored of all alerts. @returns describes one of them */
async function createDescribe(
  { control: { alerts }, now }: AlertParts,
  caller: Reach,
): Promise<(alert: Alert) => AlertView> {
  const nowMs = now();
  const [states, silences] = await Promise.all([alerts.readStates(), alerts.listSilences(nowMs)]);
  // What limited callers may not know: the labels of a silence of every alert may be of other projects.
  const shown = isLimited(caller) ? silences.filter(({ alert }) => alert !== EVERY_ALERT) : silences;
  return (alert) => {
    const text = states.get(alert.id);
    const stored = text === undefined ? undefined : readStored(text);
    // Rows of other parameters may be another's; the next evaluation begins anew.
    const isOther = stored !== undefined && stored.about !== aboutOf(alert);
    const own = silencesOf(alert.id, shown).filter((silence) => mayCover(silence, alert));
    return toAlertView(alert, isOther ? undefined : stored, { silences: own, nowMs });
  };
}

/**
 * Reads a page of the history of an alert, newest first; a limited caller sees no rows of what it was about before.
 *
 * @throws TailraceError `not_found`
 */
export async function listAlertHistory(
  parts: AlertParts,
  caller: Reach,
  { name, ...page }: { readonly name: string; readonly limit: number; readonly before?: string | undefined },
): Promise<AlertEntryView[]> {
  const alert = getVisible(parts, caller, name);
  const hides = isLimited(caller);
  const about = aboutOf(alert);
  const entries = await parts.control.alerts.listHistory(alert.id, page);
  return entries.map((entry) => {
    const view = toEntryView(entry);
    // What a receiver responded is of no rows.
    if (!hides || view.change === 'not_delivered' || readAbout(entry.entry) === about) return view;
    return { ...view, labels: null, values: null, reason: null };
  });
}

function toAlertView(
  alert: Alert,
  stored: StoredAlert | undefined,
  { silences, nowMs }: { readonly silences: readonly Silence[]; readonly nowMs: number },
): AlertView {
  const instances = Object.values(stored?.state.instances ?? {});
  const since = Math.min(...instances.map(({ sinceMs }) => sinceMs));
  const lastMs = stored?.state.tickMs;
  const { id, name, description, endpoint, severity, everyMs, per, to } = alert;
  return {
    ...{ id, name, description, endpoint, severity, every_seconds: everyMs / 1000 },
    ...{ parameters: toParameters(alert), per: [...per], to: [...to] },
    when: toWhen(alert),
    state: stateOf(instances),
    since: instances.length === 0 ? null : toTime(since),
    instances: instances.map(({ kind, phase, sinceMs, labels, values }) => ({
      ...{ kind, state: phase, since: toTime(sinceMs), labels: { ...labels }, values: { ...values } },
    })),
    last_evaluation: lastMs === undefined ? null : toTime(lastMs),
    next_evaluation: toTime(lastTick(alert, nowMs) + everyMs),
    last_error: stored?.state.lastError ?? null,
    silences: silences.map(toSilenceView),
  };
}

function toParameters({ parameters }: Alert): AlertView['parameters'] {
  const entries = Object.entries(parameters);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}

function toWhen({ when }: Alert): AlertView['when'] {
  return when.kind === 'rows' ? null : { column: when.column, is: when.kind, value: when.value };
}

function toChart({ when }: Alert, points: readonly AlertPoint[]): AlertDetailView['chart'] {
  const threshold = when.kind !== 'rows' && typeof when.value === 'number' ? when.value : null;
  return {
    ...{ column: chartColumn(when) ?? null, threshold },
    points: points.map(({ atMs, low, high }) => ({ at: toTime(atMs), low, high })),
  };
}

function stateOf(instances: readonly Instance[]): AlertView['state'] {
  if (instances.some(({ phase }) => phase === 'firing')) return 'firing';
  return instances.length > 0 ? 'pending' : 'inactive';
}

function toEntryView({ id, atMs, entry }: HistoryEntry): AlertEntryView {
  const event = readEntry(entry);
  const about = 'labels' in event ? event : undefined;
  return {
    ...{ id, at: toTime(atMs), change: event.change },
    labels: about === undefined ? null : { ...about.labels },
    values: about === undefined ? null : { ...about.values },
    quiet: about?.isQuiet ?? null,
    receiver: 'receiver' in event ? event.receiver : null,
    reason: 'reason' in event ? event.reason : null,
  };
}
