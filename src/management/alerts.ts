import { type Static, Type } from 'typebox';
import { aboutOf, chartColumn, measureOf } from '../alerts/evaluate.ts';
import {
  type HistoryEvent,
  readEntry,
  readLabels,
  readStored,
  type StoredAlert,
  silencesOf,
} from '../alerts/evaluation.ts';
import { lastTick } from '../alerts/evaluator.ts';
import type { Instance, Labels } from '../alerts/state.ts';
import type { Alert } from '../definitions/alert.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import type { AlertPoint, HistoryEntry, Silence } from '../keys/alerts/alert-record.ts';
import { actorOf } from '../keys/audit.ts';
import type { AuditAction } from '../keys/audit-action.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { isoTime, MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { closed, shortText } from '../lib/schema.ts';
import { parseParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import type { AlertDetailView, AlertEntryView, AlertView, SilenceView } from './alert-view.ts';

export interface AlertParts {
  readonly control: Pick<ControlStore, 'alerts' | 'record'>;
  readonly registry: Pick<Registry, 'alerts' | 'findEndpoint'>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** A UUID. */
  readonly newId: () => string;
}

/** The limits of a caller. */
export type Reach = Pick<Caller, 'keyId' | 'person' | 'address' | 'endpoints' | 'pins'>;

/** @throws TailraceError `not_found`, also for an alert whose rows the caller may not read */
export function getVisible(parts: AlertParts, caller: Reach, name: string): Alert {
  const visible = parts.registry.alerts.filter((alert) => isVisible(parts, caller, alert));
  return getNamed('alert', visible, name);
}

/** Whether a caller could read the rows of an alert: its labels and values are some of them. */
function isVisible({ registry }: AlertParts, caller: Reach, alert: Alert): boolean {
  const endpoint = registry.findEndpoint(alert.endpoint);
  if (endpoint === undefined || !isListed(caller.endpoints, endpoint)) return false;
  if (Object.keys(caller.pins).length === 0) return true;
  try {
    const pinned = parsePinnedParameters(endpoint, alert.parameters, { pins: caller.pins });
    const free = parseParameters(endpoint, alert.parameters);
    return endpoint.parameters.every(({ name }) => pinned[name] === free[name]);
  } catch (error) {
    if (error instanceof TailraceError) return false; // the pins allow other values only
    throw error;
  }
}

const DAY_MS = 86_400_000;

/** Lists the alerts of the endpoints that the caller may read, by name. */
export async function listAlerts(parts: AlertParts, caller: Reach) {
  const visible = parts.registry.alerts.filter((alert) => isVisible(parts, caller, alert));
  const sorted = visible.toSorted((a, b) => a.name.localeCompare(b.name));
  return { result: sorted.map(await createDescribe(parts)) };
}

/** Describes one alert, with what its evaluations saw in the last day. @throws TailraceError `not_found` */
export async function readAlert(
  parts: AlertParts,
  caller: Reach,
  { name }: { readonly name: string },
): Promise<AlertDetailView> {
  const alert = getVisible(parts, caller, name);
  const nowMs = parts.now();
  const range = { measure: measureOf(alert), fromMs: nowMs - DAY_MS, untilMs: nowMs };
  const [describe, points] = await Promise.all([
    createDescribe(parts),
    parts.control.alerts.listPoints(alert.id, range),
  ]);
  return { ...describe(alert), chart: toChart(alert, points) };
}

/** Reads what is stored of all alerts. @returns describes one of them */
async function createDescribe({ control, now }: AlertParts): Promise<(alert: Alert) => AlertView> {
  const { alerts } = control;
  const nowMs = now();
  const [states, silences] = await Promise.all([alerts.readStates(), alerts.listSilences(nowMs)]);
  return (alert) => {
    const text = states.get(alert.id);
    const stored = text === undefined ? undefined : readStored(text);
    // Rows of other parameters may be another's; the next evaluation begins anew.
    const isOther = stored !== undefined && stored.about !== aboutOf(alert);
    const own = silencesOf(alert.id, silences);
    return toAlertView(alert, isOther ? undefined : stored, { silences: own, nowMs });
  };
}

/**
 * Reads a page of the history of an alert, newest first; a limited caller sees no rows of what it was about before.
 * @throws TailraceError `not_found`
 */
export async function listAlertHistory(
  parts: AlertParts,
  caller: Reach,
  { name, ...page }: { readonly name: string; readonly limit: number; readonly before?: string | undefined },
): Promise<{ result: AlertEntryView[] }> {
  const alert = getVisible(parts, caller, name);
  const hides = caller.endpoints !== undefined || Object.keys(caller.pins).length > 0;
  const about = aboutOf(alert);
  const entries = await parts.control.alerts.listHistory(alert.id, page);
  const result = entries.map((entry) => {
    const event = readEntry(entry.entry);
    const view = toEntryView(entry, event);
    // What a receiver responded is about no rows.
    if (!hides || view.receiver !== null || event.about === about) return view;
    return { ...view, labels: null, values: null, reason: null };
  });
  return { result };
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
    ...{ parameters: alert.parameters, per: [...per], to: [...to] },
    when: toWhen(alert),
    state: stateOf(instances),
    since: instances.length === 0 ? null : isoTime(since),
    instances: instances.map(({ kind, phase, sinceMs, labels, values }) => ({
      ...{ kind, state: phase, since: isoTime(sinceMs), labels: { ...labels }, values: { ...values } },
    })),
    last_evaluation: lastMs === undefined ? null : isoTime(lastMs),
    next_evaluation: isoTime(lastTick(alert, nowMs) + everyMs),
    last_error: stored?.state.lastError ?? null,
    silences: silences.map(toSilenceView),
  };
}

function toWhen({ when }: Alert): AlertView['when'] {
  return when.kind === 'rows' ? null : { column: when.column, is: when.kind, value: when.value };
}

function toChart({ when }: Alert, points: readonly AlertPoint[]): AlertDetailView['chart'] {
  const threshold = when.kind !== 'rows' && typeof when.value === 'number' ? when.value : null;
  return {
    ...{ column: chartColumn(when) ?? null, threshold },
    points: points.map(({ atMs, low, high }) => ({ at: isoTime(atMs), low, high })),
  };
}

function stateOf(instances: readonly Instance[]): AlertView['state'] {
  if (instances.some(({ phase }) => phase === 'firing')) return 'firing';
  return instances.length > 0 ? 'pending' : 'inactive';
}

function toEntryView({ id, atMs }: HistoryEntry, event: HistoryEvent): AlertEntryView {
  const about = 'labels' in event ? event : undefined;
  return {
    ...{ id, at: isoTime(atMs), change: event.change },
    labels: about === undefined ? null : { ...about.labels },
    values: about === undefined ? null : { ...about.values },
    quiet: about === undefined ? null : about.to.length === 0,
    receiver: 'receiver' in event ? event.receiver : null,
    reason: 'reason' in event ? event.reason : null,
    status: 'status' in event ? event.status : null,
  };
}

function toSilenceView({ id, untilMs, comment, labels, author }: Silence): SilenceView {
  return { id, until: isoTime(untilMs), comment, labels: { ...readLabels(labels) }, by: author };
}

const SILENCE_DAYS_MAX = 90;

export const NEW_SILENCE = closed({
  until: Type.String({
    description: `When it ends: an ISO 8601 timestamp, at most ${SILENCE_DAYS_MAX} days ahead.`,
  }),
  comment: shortText(500, { description: 'Why.' }),
  labels: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: 8,
      description: 'Only instances that have these labels. Default: all.',
      expected: 'an object of at most 8 texts',
    }),
  ),
});

/**
 * Stops the messages about what fires of an alert until an instant.
 * @throws TailraceError `not_found`, `invalid_request`
 */
export async function silenceAlert(
  parts: AlertParts,
  caller: Reach,
  { name, until, comment, labels = {} }: Static<typeof NEW_SILENCE> & { readonly name: string },
): Promise<SilenceView> {
  const alert = getVisible(parts, caller, name);
  const nowMs = parts.now();
  const end = readEnd(until, nowMs);
  const faults: ParameterFault[] = [
    ...(typeof end === 'number' ? [] : [{ parameter: 'until', message: end.message }]),
    ...findLabelFaults(labels, alert),
  ];
  if (faults.length > 0 || typeof end !== 'number') throw invalidRequest(faults);
  const silence: Silence = {
    ...{ id: parts.newId(), alert: alert.id, labels: JSON.stringify(labels), untilMs: end, comment },
    ...{ author: actorOf(caller).actor, createdMs: nowMs },
  };
  if (!(await parts.control.alerts.addSilence(silence)))
    throw new TailraceError('invalid_request', 'there are too many silences; wait until some have ended');
  await record(parts, caller, {
    action: 'silenced',
    detail: `${alert.name} until ${isoTime(end)}: ${comment}`,
  });
  return toSilenceView(silence);
}

/** Ends a silence early: what fires is sent at the next evaluation. @throws TailraceError `not_found` */
export async function endSilence(
  parts: AlertParts,
  caller: Reach,
  { name, id }: { readonly name: string; readonly id: string },
): Promise<void> {
  const alert = getVisible(parts, caller, name);
  const ended = await parts.control.alerts.removeSilence(alert.id, id);
  if (ended === undefined || ended.untilMs <= parts.now()) {
    const shown = JSON.stringify(id.slice(0, 100));
    throw new TailraceError('not_found', `${alert.name} has no silence ${shown}; it may have ended`);
  }
  await record(parts, caller, { action: 'unsilenced', detail: `${alert.name}: ${ended.comment}` });
}

async function record(
  { control, now }: AlertParts,
  caller: Reach,
  entry: { readonly action: AuditAction; readonly detail: string },
): Promise<void> {
  await control.record([{ ...entry, ...actorOf(caller), atMs: now(), keyId: '', count: 1 }]);
}

function readEnd(until: string, nowMs: number): number | { readonly message: string } {
  const micros = parseInstant(until);
  const shown = JSON.stringify(until.slice(0, 60));
  if (micros === undefined)
    return { message: `must be an ISO 8601 timestamp, such as ${isoTime(nowMs + 3_600_000)}, not ${shown}` };
  const ms = Math.ceil(micros / MICROS_PER_MS);
  if (ms <= nowMs) return { message: `is in the past: ${shown}` };
  if (ms > nowMs + SILENCE_DAYS_MAX * DAY_MS)
    return { message: `is more than ${SILENCE_DAYS_MAX} days ahead: ${shown}` };
  return ms;
}

function findLabelFaults(labels: Labels, { name, per }: Alert): ParameterFault[] {
  return Object.keys(labels)
    .filter((label) => !per.includes(label))
    .map((label) => {
      const shown = JSON.stringify(label.slice(0, 100));
      const has = per.join(', ') || 'none';
      return { parameter: 'labels', message: `has ${shown}, which ${name} has no label for; it has ${has}` };
    });
}
