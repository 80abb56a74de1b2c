import { type Static, Type } from 'typebox';
import type { Labels } from '../alerts/state.ts';
import type { Alert } from '../definitions/alert.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import type { Silence } from '../keys/alerts/alert-record.ts';
import { actorOf } from '../keys/audit.ts';
import type { AuditAction } from '../keys/audit-action.ts';
import { isoTime, MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { closed, shortText } from '../lib/schema.ts';
import type { SilenceView } from './alert-view.ts';
import { type AlertParts, getVisible, type Reach, toSilenceView } from './alerts.ts';

const DAYS_MAX = 90;

export const NEW_SILENCE = closed({
  until: Type.String({
    description: `When it ends: an ISO 8601 timestamp, at most ${DAYS_MAX} days ahead.`,
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
 *
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
  if (ms > nowMs + DAYS_MAX * 86_400_000) return { message: `is more than ${DAYS_MAX} days ahead: ${shown}` };
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
