import { isUtf8 } from 'node:buffer';
import { MICROS_PER_MS, parseInstant } from '../../../lib/instant.ts';
import { type BodyContext, createMarkCounter, type Format, type WireEvent } from '../../body-format.ts';
import { collectEvents, writeObject } from '../event-text.ts';
import { readFrames, severityOf } from '../frames.ts';
import type { Protocol } from '../protocol.ts';

/** Syslog over its own ports; listen.ts opens them. */
export const syslog: Protocol = {
  docs: {
    title: 'Syslog',
    address: 'the ports of [`TAILRACE_SYSLOG`](settings.md#tailrace_syslog): TCP, TLS, UDP',
    tested: 'rsyslog (TCP, UDP, TLS), syslog-client, winston-syslog (`eol: "\\n"`)',
    key: 'none: `allow` names networks, `ca` who signs certificates of senders',
    timestamp: 'time of the line, without a year (RFC 3164) UTC; else the arrival',
    message: 'text of the line',
    project: '`project` of the port, else the parameter `project` of structured data `tailrace`',
    metadata: '`level`, `facility`, `host`, `app`, `process`, `message_id`, structured data as `data`',
    labels: '`app`, `host`, `facility`, `level`',
    answers: 'none: lines that were under way are lost if the service ends',
  },
  findKey: () => undefined,
  events: [],
  info: [],
  refuse: ({ status, message }) => ({ status, body: { error: message } }),
};

export const SYSLOG_FORMATS = {
  // Frames of RFC 6587, however the lines came.
  syslog: {
    cut: (bytes, options) => collectEvents(frameEvents(bytes, options.context), options),
    countMarks: createMarkCounter('<="'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The context's name of the time of arrival, ms since the epoch, by which times without a year are read. */
export const ARRIVED = 'arrived';

function* frameEvents(bytes: Buffer, context: BodyContext): Generator<WireEvent> {
  const nowMs = Number(context[ARRIVED]);
  for (const frame of readFrames(bytes)) {
    const event = toEvent(frame.toString(), nowMs);
    yield isUtf8(frame) ? event : { ...event, isRepaired: true };
  }
}

function toEvent(line: string, nowMs: number): WireEvent {
  const { time, message, project, ...metadata } = parseLine(line, nowMs);
  return {
    text: writeObject([
      ['timestamp', time === undefined ? undefined : JSON.stringify(time)],
      ['project', project === undefined ? undefined : JSON.stringify(project)],
      ['event_message', JSON.stringify(message)],
      ['metadata', JSON.stringify(metadata)],
    ]),
    labels: metadata,
  };
}

/** What a line of syslog says. Members without a value are left out. */
interface SyslogLine {
  /** ISO 8601; `undefined` if it has none that can be read. */
  readonly time: string | undefined;
  readonly message: string;
  /** The parameter `project` of structured data whose id begins with `tailrace`. */
  readonly project: string | undefined;
  readonly level?: string;
  readonly facility?: string;
  readonly host?: string;
  readonly app?: string;
  readonly process?: string;
  readonly message_id?: string;
  /** By id and name. */
  readonly data?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp'],
  ...['ntp', 'audit', 'alert', 'clock'],
  ...Array.from({ length: 8 }, (_, i) => `local${i}`),
];
const PRIORITY = /^<(\d{1,3})>/;
const PRIORITY_MAX = 191;
// Of RFC 5424: version, time, host, app, process, message id.
const HEADER = /^1 (\S{1,64}) (\S{1,255}) (\S{1,255}) (\S{1,255}) (\S{1,255})(?: |$)/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
// Of RFC 3164: time and host; senders also write the time of RFC 3339.
const OLD_TIME = /^([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d{2}:\d{2}:\d{2})(\.\d{1,6})? /;
const ISO_TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})) /;
const OLD_TAG = /^([^\s:[\]]{1,64})(?:\[([^\s\]]{1,64})\])?: ?/;

/**
 * Reads a line of RFC 5424 or RFC 3164. A line of neither is a message as it is: no line is rejected for its form.
 *
 * @param nowMs of its arrival, ms since the epoch: the year of times without one, which are UTC
 */
export function parseLine(line: string, nowMs: number): SyslogLine {
  const text = trimEnd(line);
  const [head = '', digits] = PRIORITY.exec(text) ?? [];
  const priority = digits === undefined || Number(digits) > PRIORITY_MAX ? undefined : Number(digits);
  if (priority === undefined) return { time: undefined, project: undefined, message: clean(text) };
  const rest = text.slice(head.length);
  const level = severityOf(priority);
  const facility = FACILITIES[priority >> 3];
  const origin = { level, ...(facility !== undefined && { facility }) };
  return HEADER.test(rest) ? parseNew(rest, origin) : parseOld(rest, origin, nowMs);
}

const ENDS = '\0\r\n';

/**
 * Removes what senders write after a line. A pattern would read a run of such bytes within the line again from each of
 * them.
 */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && ENDS.includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}

type Origin = Pick<SyslogLine, 'level' | 'facility'>;

/** Removes the byte order mark that RFC 5424 puts before UTF-8. */
function clean(message: string): string {
  return message.startsWith('\ufeff') ? message.slice(1) : message;
}

function parseNew(text: string, origin: Origin): SyslogLine {
  const [head = '', time = '', host = '', app = '', process = '', id = ''] = HEADER.exec(text) ?? [];
  const { data, end } = readData(text, head.length);
  const message = clean(text.slice(end).replace(/^ /, ''));
  const owner = Object.keys(data).find((name) => /^tailrace(?:@|$)/.test(name));
  const isKnown = (value: string) => value !== '-' && value !== '';
  return {
    time: parseInstant(time) === undefined ? undefined : time,
    message,
    project: owner === undefined ? undefined : data[owner]?.['project'],
    ...origin,
    ...(isKnown(host) && { host }),
    ...(isKnown(app) && { app }),
    ...(isKnown(process) && { process }),
    ...(isKnown(id) && { message_id: id }),
    ...(Object.keys(data).length > 0 && { data }),
  };
}

const ELEMENT = /\[([^\s=\]"]{1,255})((?: [^\s=\]"]{1,255}="(?:[^"\\\]]|\\[\s\S])*")*) ?\]/y;
const PARAMETER = / ([^\s=\]"]{1,255})="((?:[^"\\\]]|\\[\s\S])*)"/g;

/** Reads structured data from a place on; text that is none belongs to the message. */
function readData(text: string, start: number) {
  const data: Record<string, Record<string, string>> = Object.create(null);
  if (text[start] === '-' && /^(?: |$)/.test(text.slice(start + 1, start + 2)))
    return { data, end: start + 1 };
  let end = start;
  for (;;) {
    ELEMENT.lastIndex = end;
    const [element, id = '', parameters = ''] = ELEMENT.exec(text) ?? [];
    if (element === undefined) return { data, end };
    const values: Record<string, string> = data[id] ?? Object.create(null);
    for (const [, name = '', value = ''] of parameters.matchAll(PARAMETER))
      values[name] = value.replaceAll(/\\(["\\\]])/g, '$1');
    data[id] = values;
    end += element.length;
  }
}

function parseOld(text: string, origin: Origin, nowMs: number): SyslogLine {
  const old = OLD_TIME.exec(text);
  const [timed = '', iso] = old ?? ISO_TIME.exec(text) ?? [];
  const time = old === null ? iso : toTime(old, nowMs);
  const afterTime = text.slice(timed.length);
  const [hosted = '', host] = timed === '' ? [] : (/^(\S{1,255}) /.exec(afterTime) ?? []);
  // Without a host, the tag follows the time: `app[1]: text`.
  const hasHost = host !== undefined && !host.endsWith(':');
  const tagged = hasHost ? afterTime.slice(hosted.length) : afterTime;
  const [tag = '', app, process] = OLD_TAG.exec(tagged) ?? [];
  return {
    ...{ time, project: undefined, message: clean(tagged.slice(tag.length)), ...origin },
    ...(hasHost && { host }),
    ...(app !== undefined && { app }),
    ...(process !== undefined && { process }),
  };
}

// Clocks and time zones of senders differ.
const AHEAD_MS_MAX = 86_400_000;

/** Reads a time without a year: the latest year in which it is not ahead. */
function toTime(
  [, month = '', day = '', clock = '', fraction = '']: RegExpExecArray,
  nowMs: number,
): string | undefined {
  const number = MONTHS.indexOf(month) + 1;
  if (number === 0) return undefined;
  const pad = (value: number | string) => String(value).padStart(2, '0');
  const write = (year: number) => `${year}-${pad(number)}-${pad(day)}T${clock}${fraction}Z`;
  const year = new Date(nowMs).getUTCFullYear();
  const years = [year + 1, year, year - 1];
  const isPast = (one: number) =>
    (parseInstant(write(one)) ?? Number.NaN) / MICROS_PER_MS <= nowMs + AHEAD_MS_MAX;
  const near = years.find(isPast);
  return near === undefined ? undefined : write(near);
}
