import type { Alert, SERVICE_VARIABLES } from '../definitions/alert.ts';
import { type AlertMessage, toMicros } from './outbox.ts';
import type { Instance, Transition } from './state.ts';
import { renderText } from './text.ts';

export interface Texts extends Pick<Alert, 'name' | 'severity' | 'text'> {
  /** Its page in the console. */
  readonly link?: string | undefined;
}

/** Finds the page of an alert in the console; `undefined` without `TAILRACE_PUBLIC_URL`. */
export type FindLink = (alert: string) => string | undefined;

export function createFindLink(publicUrl: string): FindLink {
  return (alert) => (publicUrl === '' ? undefined : `${publicUrl}/alerts/${encodeURIComponent(alert)}`);
}

// Texts in one message; the others are in its instances.
const LINES_MAX = 10;

interface MessageOptions {
  /** The tick of the evaluation, ms since the epoch. */
  readonly atMs: number;
}

/** Creates the messages of one evaluation: one for each status, with all of its instances. */
export function createMessages(
  alert: Texts,
  transitions: readonly Transition[],
  options: MessageOptions,
): AlertMessage[] {
  const sent = transitions.filter(({ send }) => send);
  const groups = Map.groupBy(sent, statusOf);
  return [...groups].map(([status, own]) =>
    createMessage(alert, { ...options, status, instances: own.map(({ instance }) => instance) }),
  );
}

/** Creates a message that is marked as a test, about what fires. */
export function createTestMessage(alert: Texts, firing: readonly Instance[], atMs: number): AlertMessage {
  const message = createMessage(alert, { status: 'firing', instances: firing, atMs });
  const text = firing.length > 0 ? message.text : `${alert.name}: nothing fires at present`;
  return { ...message, text: `Test: ${text}`, isTest: true };
}

interface MessageParts extends MessageOptions {
  readonly status: AlertMessage['status'];
  readonly instances: readonly Instance[];
}

function createMessage(alert: Texts, parts: MessageParts): AlertMessage {
  const { status, instances, atMs } = parts;
  const since = Math.min(...instances.map(({ sinceMs }) => sinceMs), atMs);
  return {
    ...{ alert: alert.name, status, severity: alert.severity },
    text: writeText(alert, parts),
    ...{ at: toMicros(atMs), since: toMicros(since) },
    instances: instances.map(({ kind, labels, values }) => ({
      ...{ labels, values },
      ...(kind !== 'condition' && { kind }),
    })),
    ...(alert.link !== undefined && { link: alert.link }),
  };
}

function statusOf({ change, instance: { kind } }: Transition): AlertMessage['status'] {
  if (change === 'resolved') return 'resolved';
  return kind === 'condition' ? 'firing' : kind;
}

// Of a row's values: receivers reject them, or a terminal obeys them. Line breaks and tabs stay.
const UNWANTED = /[^\P{Cc}\n\t]+/gu;

function writeText(alert: Texts, { status, instances }: MessageParts): string {
  const lines = instances.slice(0, LINES_MAX).map((one) => writeLine(alert, one, instances.length));
  const more = instances.length - lines.length;
  const all = [...new Set(lines), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
  const text = all.replace(UNWANTED, ' ');
  return status === 'resolved' ? `Resolved: ${text}` : text;
}

function writeLine(
  { name, severity, text }: Texts,
  { kind, labels, values }: Instance,
  count: number,
): string {
  if (kind === 'no_data') return `${name}: the query returns no rows`;
  if (kind === 'error') return `${name}: the query fails: ${String(values['error'])}`;
  const own = { alert: name, severity, count } satisfies Record<(typeof SERVICE_VARIABLES)[number], unknown>;
  return renderText(text, { ...own, ...values, ...labels });
}
