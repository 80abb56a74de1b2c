import { type Static, Type } from 'typebox';
import { readLabels } from '../alerts/evaluation.ts';
import type { Labels } from '../alerts/state.ts';
import type { Alert } from '../definitions/alert.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import { EVERY_ALERT, type Silence } from '../keys/alerts/alert-record.ts';
import { type AuditAction, actorOf } from '../keys/audit.ts';
import { MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { type AlertParts, getVisible, isLimited, type Reach } from './alert-access.ts';
import type { SilenceView } from './alert-view.ts';

const DAYS_MAX = 90;
const COMMENT_CHARS_MAX = 500;
const LABELS_MAX = 8;

export const NEW_SILENCE = Type.Object(
  {
    until: Type.String({
      description: `When it ends: an ISO 8601 timestamp, at most ${DAYS_MAX} days ahead.`,
      expected: 'a string',
    }),
    comment: Type.String({ description: `1 to ${COMMENT_CHARS_MAX} characters.`, expected: 'a string' }),
    labels: Type.Optional(
      Type.Record(Type.String(), Type.String({ expected: 'a string' }), {
        maxProperties: LABELS_MAX,
        description:
          'Only instances that have these labels. Default: all; a silence of every alert has one at least.',
        expected: `an object of at most ${LABELS_MAX} texts`,
      }),
    ),
  },
  { additionalProperties: false, expected: 'an object' },
);

/** The alert of a silence; `undefined`: every alert. */
interface Silenced {
  readonly name?: string | undefined;
}

/**
 * Stops the messages of an alert, or those of every alert about instances with these labels, until an instant.
 *
 * @throws TailraceError `not_found`, `invalid_request`; `forbidden` for a limited caller and every alert
 */
export async function silenceAlert(
  parts: AlertParts,
  caller: Reach,
  { name, until, comment, labels = {} }: Static<typeof NEW_SILENCE> & Silenced,
): Promise<SilenceView> {
  const alert = findSilenced(parts, caller, name);
  const nowMs = parts.now();
  const end = readEnd(until, nowMs);
  const faults: ParameterFault[] = [
    ...(typeof end === 'number' ? [] : [{ parameter: 'until', message: end.message }]),
    ...findCommentFaults(comment),
    ...findLabelFaults(labels, alert === undefined ? parts.registry.alerts : [alert], alert),
  ];
  if (faults.length > 0 || typeof end !== 'number') throw invalidRequest(faults);
  const silence: Silence = {
    ...{
      id: parts.newId(),
      alert: alert?.id ?? EVERY_ALERT,
      labels: JSON.stringify(labels),
      untilMs: end,
      comment,
    },
    ...{ author: actorOf(caller).actor, createdMs: nowMs },
  };
  if (!(await parts.control.alerts.addSilence(silence)))
    throw new TailraceError('invalid_request', 'there are too many silences; wait until some have ended');
  await record(parts, caller, {
    action: 'silenced',
    detail: `${describeSilenced(alert, silence)} until ${toTime(end)}: ${comment}`,
  });
  return toSilenceView(silence);
}

/** Ends a silence early: what fires is sent at the next evaluation. @throws TailraceError `not_found` */
export async function endSilence(
  parts: AlertParts,
  caller: Reach,
  { name, id }: Silenced & { readonly id: string },
): Promise<void> {
  const alert = findSilenced(parts, caller, name);
  const ended = await parts.control.alerts.removeSilence(alert?.id ?? EVERY_ALERT, id);
  if (ended === undefined || ended.untilMs <= parts.now()) {
    const shown = JSON.stringify(id.slice(0, 100));
    const whose = alert === undefined ? 'there is no silence of every alert' : `${alert.name} has no silence`;
    throw new TailraceError('not_found', `${whose} ${shown}; it may have ended`);
  }
  const detail = `${describeSilenced(alert, ended)}: ${ended.comment}`;
  await record(parts, caller, { action: 'unsilenced', detail });
}

/** Lists the silences of every alert. @throws TailraceError `forbidden` for a limited caller */
export async function listSilences(parts: AlertParts, caller: Reach): Promise<SilenceView[]> {
  requireUnlimited(caller);
  const silences = await parts.control.alerts.listSilences(parts.now());
  return silences.filter(({ alert }) => alert === EVERY_ALERT).map(toSilenceView);
}

/** @returns `undefined`: every alert @throws TailraceError `not_found`; `forbidden` */
function findSilenced(parts: AlertParts, caller: Reach, name: string | undefined): Alert | undefined {
  if (name !== undefined) return getVisible(parts, caller, name);
  requireUnlimited(caller);
  return undefined;
}

/** @throws TailraceError `forbidden` */
function requireUnlimited(caller: Reach): void {
  if (!isLimited(caller)) return;
  const message =
    'only a key without pins that may read every endpoint may silence every alert; name an alert';
  throw new TailraceError('forbidden', message, { refusal: 'wider' });
}

function describeSilenced(alert: Alert | undefined, { labels }: Silence): string {
  if (alert !== undefined) return alert.name;
  const pairs = Object.entries(readLabels(labels)).map(([name, value]) => `${name}=${value}`);
  return `every alert with ${pairs.join(', ')}`;
}

/** Whether an alert has all labels of a silence. */
export function mayCover({ labels }: Silence, { per }: Alert): boolean {
  return Object.keys(readLabels(labels)).every((name) => per.includes(name));
}

async function record(
  { control, now }: AlertParts,
  caller: Reach,
  entry: { readonly action: AuditAction; readonly detail: string },
): Promise<void> {
  await control.record({
    used: [],
    entries: [{ ...entry, ...actorOf(caller), atMs: now(), keyId: '', count: 1 }],
  });
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

/** @param alerts that may be silenced @param only the one that is; `undefined`: all of them */
function findLabelFaults(
  labels: Labels,
  alerts: readonly Alert[],
  only: Alert | undefined,
): ParameterFault[] {
  const known = new Set(alerts.flatMap(({ per }) => per));
  const has = [...known].join(', ') || 'none';
  if (only === undefined && Object.keys(labels).length === 0) {
    const message = `must have at least one of those of the alerts, which are ${has}; otherwise name an alert`;
    return [{ parameter: 'labels', message }];
  }
  return Object.keys(labels)
    .filter((label) => !known.has(label))
    .map((label) => {
      const shown = JSON.stringify(label.slice(0, 100));
      const whose =
        only === undefined ? 'no alert has a label for; they have' : `${only.name} has no label for; it has`;
      return { parameter: 'labels', message: `has ${shown}, which ${whose} ${has}` };
    });
}

export function toSilenceView({ id, alert, untilMs, comment, labels, author }: Silence): SilenceView {
  const isOfEvery = alert === EVERY_ALERT;
  const view = { id, until: toTime(untilMs), comment, labels: { ...readLabels(labels) }, by: author };
  return { ...view, is_of_every_alert: isOfEvery };
}

export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
