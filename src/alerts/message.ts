import type { Alert, SERVICE_VARIABLES, Severity } from '../definitions/alert.ts';
import type { Instance, Labels, RowValues, Transition } from './state.ts';
import { renderText } from './text.ts';

/** What a receiver gets; the body of `webhook`. Times are ISO 8601. */
export interface AlertMessage {
  readonly alert: string;
  readonly status: 'firing' | 'resolved' | 'no_data' | 'error';
  readonly severity: Severity;
  readonly text: string;
  readonly description: string;
  readonly at: string;
  readonly since: string;
  readonly instances: readonly { readonly labels: Labels; readonly values: RowValues }[];
  /** Its page in the console. */
  readonly link?: string | undefined;
  readonly runbook?: string | undefined;
  readonly test?: true;
}

/** What messages say of their alert. */
export type Texts = Pick<Alert, 'name' | 'severity' | 'text' | 'description' | 'runbook'> & {
  readonly link?: string | undefined;
};

/** Finds the page of an alert in the console; `undefined` without `TAILRACE_PUBLIC_URL`. */
export type FindLink = (alert: string) => string | undefined;

export function createFindLink(publicUrl: string): FindLink {
  return (alert) => (publicUrl === '' ? undefined : `${publicUrl}/alerts/${encodeURIComponent(alert)}`);
}

const LINES_MAX = 10; // the others are in the instances of the message

/** Creates one message for each status and set of receivers, with all of its instances. @param atMs the tick */
export function createMessages(texts: Texts, transitions: readonly Transition[], atMs: number) {
  const sent = transitions.filter(({ to }) => to.length > 0);
  const groups = Map.groupBy(sent, (one) => JSON.stringify([statusOf(one), one.to]));
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const instances = own.map(({ instance }) => instance);
    const message = createMessage(texts, { status: statusOf(first), instances, atMs });
    return [{ to: first.to, message }];
  });
}

/** Creates a message that is marked as a test, about what fires. */
export function createTestMessage(texts: Texts, firing: readonly Instance[], atMs: number): AlertMessage {
  const message = createMessage(texts, { status: 'firing', instances: firing, atMs });
  const text = firing.length > 0 ? message.text : `${texts.name}: nothing fires at present`;
  return { ...message, text: `Test: ${text}`, test: true };
}

interface MessageParts extends Pick<AlertMessage, 'status'> {
  readonly instances: readonly Instance[];
  readonly atMs: number;
}

function createMessage(texts: Texts, parts: MessageParts): AlertMessage {
  const { status, instances, atMs } = parts;
  const { name, severity, description, link, runbook } = texts;
  const since = Math.min(...instances.map(({ sinceMs }) => sinceMs), atMs);
  return {
    ...{ alert: name, status, severity, text: writeText(texts, parts), description },
    ...{ at: new Date(atMs).toISOString(), since: new Date(since).toISOString() },
    instances: instances.map(({ labels, values }) => ({ labels, values })),
    ...{ link, runbook },
  };
}

function statusOf({ change, instance: { kind } }: Transition): AlertMessage['status'] {
  if (change === 'resolved' || change === 'withdrawn') return 'resolved';
  return kind === 'condition' ? 'firing' : kind;
}

// Characters that receivers reject, or that a terminal obeys. Line breaks and tabs stay.
const UNWANTED = /[^\P{Cc}\n\t]+/gu;

function writeText(texts: Texts, { status, instances }: MessageParts): string {
  const lines = instances.slice(0, LINES_MAX).map((one) => writeLine(texts, one, instances.length));
  const more = instances.length - lines.length;
  const all = [...new Set(lines), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
  const text = all.replace(UNWANTED, ' ');
  return status === 'resolved' ? `Resolved: ${text}` : text;
}

function writeLine({ name, severity, text }: Texts, instance: Instance, count: number): string {
  const { kind, labels, values } = instance;
  if (kind === 'no_data') return `${name}: the query returns no rows`;
  if (kind === 'error') return `${name}: the query fails: ${String(values['error'])}`;
  const own = { alert: name, severity, count } satisfies Record<(typeof SERVICE_VARIABLES)[number], unknown>;
  return renderText(text, { ...own, ...values, ...labels });
}
