import { randomFillSync, randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import type { Source } from '../definitions/source.ts';
import {
  EARLIEST_STORED_MICROS,
  formatInstant,
  LATEST_STORED_MICROS,
  MICROS_PER_DAY,
  MICROS_PER_SECOND,
  type Micros,
  parseInstant,
} from '../lib/instant.ts';
import type { NestedValue, WireEvent } from './body-format.ts';
import { readString } from './json/grammar.ts';
import {
  NAMED_CHARS_MAX,
  PROJECT,
  type ReadEvent,
  RejectedEvent,
  readEvent,
  typedValues,
} from './read-event.ts';
import type { SpentProjects } from './usage.ts';

export interface Event {
  readonly id: string;
  readonly timestamp: Micros;
  readonly project: string;
  readonly message: string;
  /** JSON text as received, on one line; empty if the event has none. */
  readonly metadata: string;
  /** JSON text of an object with the other top-level members, as `metadata`. */
  readonly attributes: string;
  /** The values of the source's typed columns, in their order. */
  readonly typed: readonly unknown[];
}

export interface EventRules {
  /** The time of arrival. */
  readonly now: Micros;
  /** The time from which the age of an event is counted; `now` by default. */
  readonly ageAt?: Micros | undefined;
  /** `EVENT_BYTES_MAX` by default. */
  readonly eventBytesMax?: number;
  /** The project of an event that names none; empty if unknown. */
  readonly project: string;
  /** The only project that the sender may send for: an event that names another is rejected. */
  readonly pinnedProject?: string | undefined;
  readonly spent?: SpentProjects | undefined;
}

/** An event is one line of a log with its fields: what is larger belongs into a file. */
export const EVENT_BYTES_MAX = 1024 * 1024;
const ID_CHARS_MAX = 256;
const AHEAD_MICROS_MAX = 3_600 * MICROS_PER_SECOND;

/** Reads one event of `source`. @throws RejectedEvent saying what is wrong with it and what would be right */
export function parseEvent(wire: WireEvent, source: Source, rules: EventRules): Event {
  const event = readEvent(wire, source, rules.eventBytesMax ?? EVENT_BYTES_MAX);
  const rest: string[] = [];
  const own = new Map<string, string>();
  const project = projectOf(event, source, rules);
  const messageName = event.members.some(([name]) => name === 'event_message') ? 'event_message' : 'message';
  for (const [name, text] of event.members) {
    if (name === messageName || isOwn(name, event, project)) own.set(name, text);
    else rest.push(`${JSON.stringify(name)}:${text}`);
  }
  const message = own.get(messageName) ?? textAt(event, source.messagePaths);
  return {
    id: readId(own.get('id') ?? textAt(event, source.idPaths)),
    timestamp: readTimestamp(own.get('timestamp') ?? timeAt(event, source.timePaths), source, rules),
    project,
    message: message === undefined || message === 'null' ? '' : textOf(message),
    metadata: toOneLine(own.get('metadata') ?? '', event),
    attributes: rest.length === 0 ? '' : toOneLine(`{${rest.join(',')}}`, event),
    typed: typedValues(event.at, project, source.columns),
  };
}

/** Whether a member besides the message has its own column; all others are kept together as attributes. */
function isOwn(name: string, event: ReadEvent, project: string): boolean {
  if (name === 'project') return event.at(PROJECT) === project; // another value, or another type, is an attribute
  return name === 'id' || name === 'timestamp' || name === 'metadata';
}

function readId(text: string | undefined): string {
  if (text === undefined || text === 'null' || text === '""') return newEventId();
  const id = textOf(text);
  if (id.length > ID_CHARS_MAX) throw new RejectedEvent(`has an id of more than ${ID_CHARS_MAX} characters`);
  return id;
}

// For many ids at once: bytes for each by itself took an eighth of the time of decoding.
const RANDOM = new Uint8Array(4_096);
const RANDOM_BYTES_PER_ID = 16;
const next = { at: RANDOM.length, msecs: 0, seq: randomInt(2 ** 31) };

/** Returns a UUIDv7 that is greater than those before. */
export function newEventId(): string {
  if (next.at === RANDOM.length) {
    randomFillSync(RANDOM);
    next.at = 0;
  }
  const random = RANDOM.subarray(next.at, next.at + RANDOM_BYTES_PER_ID);
  next.at += RANDOM_BYTES_PER_ID;
  next.msecs = Math.max(Date.now(), next.msecs);
  next.seq = (next.seq + 1) >>> 0;
  return v7({ random, msecs: next.msecs, seq: next.seq });
}

function readTimestamp(text: string | undefined, source: Source, { now, ageAt = now }: EventRules): Micros {
  if (text === undefined || text === 'null') return requireStorable(now);
  const timestamp = parseTimestamp(text);
  if (timestamp === undefined) {
    const message = 'has a timestamp that is neither ISO 8601 nor a count of s, ms, µs or ns since 1970';
    throw new RejectedEvent(message);
  }
  if (timestamp > now + AHEAD_MICROS_MAX) {
    throw new RejectedEvent(
      `has a timestamp more than an hour ahead: ${formatInstant(Math.min(timestamp, Number.MAX_SAFE_INTEGER))}`,
    );
  }
  if (timestamp <= ageAt - source.retentionDays * MICROS_PER_DAY) {
    throw new RejectedEvent(
      `is older than the ${source.retentionDays} days that ${source.name} keeps: ${formatInstant(timestamp)}`,
    );
  }
  return requireStorable(timestamp);
}

function requireStorable(timestamp: Micros): Micros {
  if (timestamp >= EARLIEST_STORED_MICROS && timestamp <= LATEST_STORED_MICROS) return timestamp;
  throw new RejectedEvent(
    `has a timestamp outside of the years that can be stored, 1970 to 2149-06-06: ${formatInstant(timestamp)}`,
  );
}

const EPOCH = /^(\d{1,19})(?:\.(\d{1,18}))?$/;
const EXPONENTIAL = /^(\d{1,19})(?:\.(\d{1,18}))?[eE]([+-]?\d{1,3})$/;

/**
 * Reads an event's `timestamp`: ISO 8601, or a count since 1970, of whose digits before the point up to 11 are seconds, up
 * to 14 ms, up to 17 µs, more ns. @param text the JSON text of the value, so that a count beyond 2^53 is exact
 */
export function parseTimestamp(text: string): Micros | undefined {
  const value = text.startsWith('"') ? readString(text).trim() : text;
  const epoch = EPOCH.exec(value);
  // Eight digits in a string are a date, 20261120, as in ISO 8601's basic form.
  if (epoch === null || (text.startsWith('"') && value.length === 8))
    return parseInstant(value) ?? parseExponential(value);
  const [, digits = '', fraction = ''] = epoch;
  if (digits.length > 17) return Number(digits.slice(0, -3));
  const shift = digits.length > 14 ? 0 : digits.length > 11 ? 3 : 6;
  return Number(digits + fraction.slice(0, shift).padEnd(shift, '0'));
}

/** Reads `1.5E3` as `1500`, exactly: a double has too few digits for nanoseconds. */
function parseExponential(value: string): Micros | undefined {
  const [, digits = '', fraction = '', exponent] = EXPONENTIAL.exec(value) ?? [];
  const all = (digits + fraction).replace(/^0+/, '');
  const point = all.length - fraction.length + Number(exponent); // NaN without one
  return point > 0
    ? parseTimestamp(`${all.slice(0, point).padEnd(point, '0')}.${all.slice(point)}`.replace(/\.$/, ''))
    : undefined;
}

function projectOf(event: ReadEvent, source: Source, { project, pinnedProject }: EventRules): string {
  const named = findProject(event, source) ?? pinnedProject;
  if (pinnedProject === undefined || named === pinnedProject) return named ?? project;
  const shown = JSON.stringify(named?.slice(0, NAMED_CHARS_MAX));
  throw new RejectedEvent(
    `names the project ${shown}, but the key sends for ${JSON.stringify(pinnedProject)} only`,
  );
}

function findProject(event: ReadEvent, source: Source): string | undefined {
  for (const path of source.projectPaths) {
    const project = event.at(path);
    if (typeof project === 'string' && project !== '') return project;
  }
  return undefined;
}

/** Returns the value at the first path that has one other than null, as JSON text. */
function textAt(event: ReadEvent, paths: readonly (readonly string[])[] = []): string | undefined {
  for (const path of paths) {
    const value = event.at(path) ?? undefined;
    if (typeof value === 'object') return toOneLine((value as NestedValue).json, event); // `at` returns no other objects
    if (value !== undefined) return JSON.stringify(value);
  }
  return undefined;
}

// A smaller number is a duration.
const NAMED_TIME_MIN = Date.UTC(2000) * 1_000;

/** Returns the value at the first path that has a time, as JSON text. */
function timeAt(event: ReadEvent, paths: Source['timePaths'] = []): string | undefined {
  const texts = paths.map((path) => textAt(event, [path]) ?? '');
  return texts.find((text) => (parseTimestamp(text) ?? 0) >= NAMED_TIME_MIN);
}

/** Returns the value of a JSON string; any other value as its JSON. */
export function textOf(json: string): string {
  return json.startsWith('"') ? readString(json) : json;
}

/** Replaces line breaks by spaces: answers need one line a row. */
function toOneLine(json: string, { hasBreaks }: ReadEvent): string {
  return hasBreaks ? json.replaceAll(/[\n\r]/g, ' ') : json;
}
