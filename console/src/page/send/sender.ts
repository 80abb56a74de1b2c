import type { SourceView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import type { Language } from '../../ui/code.tsx';

/** What a sender is set up with. */
export interface SenderTarget {
  /** URL of the service: `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly source: SourceView;
  /** The project of the events. */
  readonly project: string;
  /** The key, or a reference to the variable that holds it. */
  readonly key: string | undefined;
}

/** How a sender is set up. */
export interface SenderText {
  readonly language?: Language;
  readonly text: string;
  /** What the reader still has to change or know. */
  readonly note: string;
}

/** A program that sends logs. A new one is an entry in senders.ts. */
export interface Sender {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  /** Whether `accepts` of a source's file chooses the source, else `logs`. */
  readonly isSorted?: boolean;
  readonly write: (target: SenderTarget) => SenderText;
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export function placeOf({ origin }: SenderTarget): Place {
  const { hostname, port, protocol } = new URL(origin);
  const isTls = protocol === 'https:';
  return { host: hostname, port: port === '' ? (isTls ? 443 : 80) : Number(port), isTls };
}

export const VARIABLE = 'TAILRACE_KEY';
/** The key, else its variable as shells name it. */
export const keyOf = ({ key }: SenderTarget) => key ?? `$${VARIABLE}`;
/** As `keyOf`, as most configurations name a variable. */
export const bracedKeyOf = ({ key }: SenderTarget) => key ?? ['$', '{', VARIABLE, '}'].join('');
export const quoted = (text: string) => JSON.stringify(text);

/** As `keyOf`, as a program in JavaScript reads it. */
export const scriptKeyOf = ({ key }: SenderTarget) =>
  key === undefined ? `process.env.${VARIABLE}` : quoted(key);
export const logsUrl = ({ origin, source }: SenderTarget) => `${origin}/api/logs?source_name=${source.name}`;

const EXAMPLES: Readonly<Record<string, unknown>> = { integer: 200, number: 1.5, boolean: true };
const COLUMNS_SHOWN = 4;

interface Members {
  [name: string]: unknown;
}

/** An event with values at the paths of some of the source's columns. */
export function createExample(columns: SourceView['columns'], project: string): Members {
  const event = Object.assign(createMembers(), {
    project,
    event_message: 'it works',
    metadata: createMembers(),
  });
  for (const { name, type, path } of columns.slice(0, COLUMNS_SHOWN)) {
    put(event, path, ownMember(EXAMPLES, type) ?? `example ${name.replaceAll('_', ' ')}`);
  }
  return event;
}

/** Without a prototype: `__proto__` is a name like any other. */
function createMembers(): Members {
  return Object.create(null) as Members;
}

function put(target: Members, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    if (!Object.hasOwn(target, first)) target[first] = value;
    return;
  }
  const inner = Object.hasOwn(target, first) ? target[first] : createMembers();
  if (typeof inner !== 'object' || inner === null) return; // another column has the whole value
  target[first] = inner;
  put(inner as Members, rest, value); // created above, or by an earlier column
}
