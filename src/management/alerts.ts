import { type Static, Type } from 'typebox';
import { readStored, type StoredAlert } from '../alerts/evaluator.ts';
import { readEntry } from '../alerts/history.ts';
import { readLabels } from '../alerts/silence.ts';
import type { Instance } from '../alerts/state.ts';
import { lastTick } from '../alerts/tick.ts';
import type { Alert } from '../definitions/alert.ts';
import type { Registry } from '../definitions/registry.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import type { HistoryEntry, Silence } from '../keys/alerts/alert-record.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { parseParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import type { AlertEntryView, AlertView, SilenceView } from './alert-view.ts';

export interface AlertParts {
  readonly control: Pick<ControlStore, 'alerts' | 'record'>;
  readonly registry: Pick<Registry, 'alerts' | 'getAlert' | 'findEndpoint'>;
  readonly parameterBytesMax: number;
  /** ms since the epoch. */
  readonly now: () => number;
  /** A UUID. */
  readonly newId: () => string;
}

type Reach = Pick<Caller, 'keyId' | 'endpoints' | 'pins'>;

const DAYS_MAX = 90;
const COMMENT_CHARS_MAX = 500;
const LABELS_MAX = 8;

export const NEW_SILENCE = Type.Object(
  {
    until: Type.String({
      description: `When it ends: an ISO 8601 timestamp, at most ${DAYS_MAX} days ahead.`,
      expected: 'a text',
    }),
    comment: Type.String({ description: `1 to ${COMMENT_CHARS_MAX} characters.`, expected: 'a text' }),
    labels: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        maxProperties: LABELS_MAX,
        description: 'Only instances that have these labels. Default: all.',
        expected: `an object of at most ${LABELS_MAX} texts`,
      }),
    ),
  },
  { additionalProperties: false, expected: 'an object' },
);

/** Lists the alerts of the endpoints that the caller may read, by name. */
export async function listAlerts(parts: AlertParts, caller: Reach): Promise<AlertView[]> {
  const { alerts } = parts.control;
  const [states, silences] = await Promise.all([alerts.readStates(), alerts.listSilences(parts.now())]);
  return parts.registry.alerts
    .filter((alert) => isVisible(parts, caller, alert))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((alert) => {
      const state = states.get(alert.id);
      const own = silences.filter((one) => one.alert === alert.id);
      return toAlertView(alert, state === undefined ? undefined : readStored(state), {
        silences: own,
        nowMs: parts.now(),
      });
    });
}

/** Reads a page of the history of an alert, newest first. @throws TailraceError `not_found` */
export async function listAlertHistory(
  parts: AlertParts,
  caller: Reach,
  { name, ...page }: { readonly name: string; readonly limit: number; readonly before?: string | undefined },
): Promise<AlertEntryView[]> {
  const alert = getVisible(parts, caller, name);
  return (await parts.control.alerts.listHistory(alert.id, page)).map(toEntryView);
}

/** Stops the messages of an alert until an instant. @throws TailraceError `not_found`, `invalid_request` */
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
    ...findCommentFaults(comment),
    ...Object.keys(labels)
      .filter((label) => !alert.per.includes(label))
      .map((label) => ({ parameter: 'labels', message: describeLabel(label, alert) })),
  ];
  if (faults.length > 0 || typeof end !== 'number') throw invalidRequest(faults);
  const silence: Silence = {
    ...{ id: parts.newId(), alert: alert.id, labels: JSON.stringify(labels), untilMs: end, comment },
    ...{ author: caller.keyId, createdMs: nowMs },
  };
  if (!(await parts.control.alerts.addSilence(silence)))
    throw new TailraceError('invalid_request', 'there are too many silences; wait until some have ended');
  const detail = `${alert.name} until ${toTime(end)}: ${comment}`;
  const entry = {
    atMs: nowMs,
    action: 'silenced',
    keyId: '',
    actor: caller.keyId,
    detail,
    count: 1,
  } as const;
  await parts.control.record({ used: [], entries: [entry] });
  return toSilenceView(silence);
}

function readEnd(until: string, nowMs: number): number | { readonly message: string } {
  const micros = parseInstant(until);
  const shown = JSON.stringify(until.slice(0, 60));
  if (micros === undefined)
    return { message: `must be an ISO 8601 timestamp, such as ${toTime(nowMs + 3_600_000)}, not ${shown}` };
  const ms = Math.ceil(micros / MICROS_PER_MS);
  if (ms <= nowMs) return { message: `is in the past: ${shown}` };
  if (ms > nowMs + DAYS_MAX * 86_400_000) return { message: `is more than ${DAYS_MAX} days ahead: ${shown}` };
  return ms;
}

function findCommentFaults(comment: string): ParameterFault[] {
  const { length } = comment.trim();
  if (length >= 1 && length <= COMMENT_CHARS_MAX) return [];
  return [{ parameter: 'comment', message: `must have 1 to ${COMMENT_CHARS_MAX} characters, not ${length}` }];
}

function describeLabel(label: string, { name, per }: Alert): string {
  return `has ${JSON.stringify(label.slice(0, 100))}, which ${name} has no label for; it has ${per.join(', ') || 'none'}`;
}

function getVisible(parts: AlertParts, caller: Reach, name: string): Alert {
  const alert = parts.registry.getAlert(name);
  if (isVisible(parts, caller, alert)) return alert;
  throw new TailraceError('not_found', `no alert has the UUID or name ${JSON.stringify(name.slice(0, 100))}`);
}

/** Whether a caller could read the rows of an alert: its labels and values are some of them. */
function isVisible(
  { registry, parameterBytesMax: bytesMax }: AlertParts,
  caller: Reach,
  alert: Alert,
): boolean {
  const endpoint = registry.findEndpoint(alert.endpoint);
  if (endpoint === undefined || !isListed(caller.endpoints, endpoint)) return false;
  if (Object.keys(caller.pins).length === 0) return true;
  try {
    const pinned = parsePinnedParameters(endpoint, alert.parameters, { pins: caller.pins, bytesMax });
    const free = parseParameters(endpoint, alert.parameters, bytesMax);
    return endpoint.parameters.every(({ name }) => pinned[name] === free[name]);
  } catch (error) {
    if (error instanceof TailraceError) return false; // the pins allow other values only
    throw error;
  }
}

function toAlertView(
  alert: Alert,
  stored: StoredAlert | undefined,
  { silences, nowMs }: { readonly silences: readonly Silence[]; readonly nowMs: number },
): AlertView {
  const instances = Object.values(stored?.state.instances ?? {});
  const since = Math.min(...instances.map(({ sinceMs }) => sinceMs));
  const lastMs = stored?.state.tickMs;
  const { id, name, description, endpoint, severity, everyMs, to } = alert;
  return {
    ...{ id, name, description, endpoint, severity, every_seconds: everyMs / 1000, to: [...to] },
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

function stateOf(instances: readonly Instance[]): AlertView['state'] {
  if (instances.some(({ phase }) => phase === 'firing')) return 'firing';
  return instances.length > 0 ? 'pending' : 'inactive';
}

function toSilenceView({ id, untilMs, comment, labels, author }: Silence): SilenceView {
  return { id, until: toTime(untilMs), comment, labels: { ...readLabels(labels) }, by: author };
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

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
