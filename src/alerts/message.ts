import type { Alert, SERVICE_VARIABLES } from '../definitions/alert.ts';
import { messageOf } from '../errors.ts';
import { type AlertMessage, toMicros } from './outbox.ts';
import { renderText } from './receivers/template.ts';
import type { Instance, Transition } from './state.ts';

type Texts = Pick<Alert, 'name' | 'severity' | 'text'>;

// Texts in one message; the others are in its instances.
const LINES_MAX = 10;

/** Creates the messages of one evaluation: one for each status, with all of its instances. @param atMs its tick */
export function createMessages(
  alert: Texts,
  transitions: readonly Transition[],
  atMs: number,
): AlertMessage[] {
  const sent = transitions.filter(({ send }) => send);
  const groups = Map.groupBy(sent, statusOf);
  return [...groups].map(([status, own]) =>
    createMessage(alert, { status, instances: own.map(({ instance }) => instance), atMs }),
  );
}

/** Creates a message that is marked as a test, about what fires. */
export function createTestMessage(alert: Texts, firing: readonly Instance[], atMs: number): AlertMessage {
  const message = createMessage(alert, { status: 'firing', instances: firing, atMs });
  const text = firing.length > 0 ? message.text : `${alert.name}: nothing fires at present`;
  return { ...message, text: `Test: ${text}`, isTest: true };
}

interface MessageParts {
  readonly status: AlertMessage['status'];
  readonly instances: readonly Instance[];
  /** ms since the epoch. */
  readonly atMs: number;
}

function createMessage(alert: Texts, { status, instances, atMs }: MessageParts): AlertMessage {
  const since = Math.min(...instances.map(({ sinceMs }) => sinceMs), atMs);
  return {
    ...{ alert: alert.name, status, severity: alert.severity },
    text: writeText(alert, status, instances),
    ...{ at: toMicros(atMs), since: toMicros(since) },
    instances: instances.map(({ labels, values }) => ({ labels, values })),
  };
}

function statusOf({ change, instance: { kind } }: Transition): AlertMessage['status'] {
  if (change === 'resolved') return 'resolved';
  return kind === 'condition' ? 'firing' : kind;
}

function writeText(alert: Texts, status: AlertMessage['status'], instances: readonly Instance[]): string {
  const lines = instances.slice(0, LINES_MAX).map((one) => writeLine(alert, one, instances.length));
  const more = instances.length - lines.length;
  const all = [...new Set(lines), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
  return status === 'resolved' ? `Resolved: ${all}` : all;
}

function writeLine(
  { name, severity, text }: Texts,
  { kind, labels, values }: Instance,
  count: number,
): string {
  if (kind === 'no_data') return `${name}: the query returns no rows`;
  if (kind === 'error') return `${name}: the query fails: ${String(values['error'])}`;
  const own: Record<(typeof SERVICE_VARIABLES)[number], string | number> = { alert: name, severity, count };
  try {
    return renderText(text, { ...own, ...values, ...labels });
  } catch (error) {
    // A message without its text is better than none.
    return `${name}: its text cannot be written: ${messageOf(error)}`;
  }
}
