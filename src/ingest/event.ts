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
import { cutMembers, type JsonLimits } from './json-text.ts';
import { findValue, typedValues } from './typed.ts';
import type { WireEvent } from './wire-events.ts';

/** An event ready to be stored. */
export interface Event {
  readonly id: string;
  readonly timestamp: Micros;
  readonly project: string;
  readonly message: string;
  /** JSON text as received, on one line; empty if the event has none. */
  readonly metadata: string;
  /** JSON text of an object with the event's other top-level members; empty if there are none. */
  readonly attributes: string;
  /** The values of the source's typed columns, in their order. */
  readonly typed: readonly unknown[];
}

/** Why an event is not stored; the message completes the sentence "event 3 …". */
export class RefusedEvent extends Error {
  override readonly name = 'RefusedEvent';

  constructor(reason: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // capturing a stack takes longer than parsing an event
    super(reason);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export interface EventRules {
  /** The time of arrival. */
  readonly now: Micros;
  /** The time from which the age of an event is counted; `now` by default. */
  readonly ageAt?: Micros | undefined;
  readonly eventBytesMax: number;
  /** The project of an event that names none; empty if unknown. */
  readonly project: string;
  /** The only project that the sender may send for: an event that names another is rejected. */
  readonly pinnedProject?: string | undefined;
}

const LIMITS: JsonLimits = { depthMax: 100, keysMax: 10_000, keyCharsMax: 1_000 };
const ID_CHARS_MAX = 256;
// Characters of a project's name in a message.
const NAMED_CHARS_MAX = 100;
const AHEAD_MICROS_MAX = 3_600 * MICROS_PER_SECOND;

/** Reads one event of `source`. @throws RefusedEvent saying what is wrong with it and what would be right */
export function parseEvent(wire: WireEvent, source: Source, rules: EventRules): Event {
  const { text, value } = read(wire, rules.eventBytesMax);
  const rest: string[] = [];
  const own = new Map<string, string>();
  const project = projectOf(value, source, rules);
  for (const { name, text: member } of cut(text)) {
    if (isOwn(name, value, project)) own.set(name, member);
    else rest.push(`${JSON.stringify(name)}:${member}`);
  }
  const message = own.get('event_message') ?? own.get('message');
  return {
    id: readId(own.get('id')),
    timestamp: readTimestamp(own.get('timestamp'), source, rules),
    project,
    message: message === undefined || message === 'null' ? '' : textOf(message),
    metadata: toOneLine(own.get('metadata') ?? ''),
    attributes: rest.length === 0 ? '' : toOneLine(`{${rest.join(',')}}`),
    typed: typedValues(value, project, source.columns),
  };
}

/** Writes a row of the source's table in the engine's format, with its newline; columns as `tableColumns` orders them. */
export function encodeRow(event: Event): string {
  const { id, timestamp, project, message, metadata, attributes, typed } = event;
  const values = [id, formatInstant(timestamp), project, message, metadata, attributes, ...typed];
  return `${JSON.stringify(values.map(toWellFormed))}\n`;
}

/** Returns the values of an event's row for a block; columns as `blockColumns` orders them. */
export function rowValues(event: Event): unknown[] {
  const { id, timestamp, project, message, metadata, attributes, typed } = event;
  return [id, timestamp, project, message, metadata, attributes, ...typed];
}

/** Half a surrogate pair has no UTF-8 form: the engine would reject it, and every row of the same insert with it. */
function toWellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function read(wire: WireEvent, bytesMax: number): { text: string; value: Record<string, unknown> } {
  const bytes = 'line' in wire ? wire.line.length : Buffer.byteLength(wire.text);
  if (bytes > bytesMax) throw new RefusedEvent(`is larger than ${bytesMax} bytes`);
  const text = 'line' in wire ? wire.line.toString() : wire.text;
  const value = 'value' in wire ? wire.value : parseJson(text);
  return { text, value: asObject(value) };
}

function parseJson(text: string): unknown {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // as in RefusedEvent: the error is discarded
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedEvent('is not valid JSON');
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new RefusedEvent('is not a JSON object');
}

function cut(text: string) {
  try {
    return cutMembers(text, LIMITS);
  } catch (error) {
    throw error instanceof RangeError ? new RefusedEvent(error.message) : error;
  }
}

/** Whether a member has its own column; all others are kept together as attributes. */
function isOwn(name: string, event: Record<string, unknown>, project: string): boolean {
  if (name === 'message') return !Object.hasOwn(event, 'event_message');
  if (name === 'project') return event['project'] === project; // another value, or another type, is an attribute
  return name === 'id' || name === 'timestamp' || name === 'event_message' || name === 'metadata';
}

function readId(text: string | undefined): string {
  if (text === undefined || text === 'null' || text === '""') return v7();
  const id = textOf(text);
  if (id.length > ID_CHARS_MAX) throw new RefusedEvent(`has an id of more than ${ID_CHARS_MAX} characters`);
  return id;
}

function readTimestamp(text: string | undefined, source: Source, { now, ageAt = now }: EventRules): Micros {
  if (text === undefined || text === 'null') return requireStorable(now);
  const timestamp = parseTimestamp(text);
  if (timestamp === undefined) {
    const message = 'has a timestamp that is neither ISO 8601 nor a count of s, ms, µs or ns since 1970';
    throw new RefusedEvent(message);
  }
  if (timestamp > now + AHEAD_MICROS_MAX) {
    throw new RefusedEvent(
      `has a timestamp more than an hour ahead: ${formatInstant(Math.min(timestamp, Number.MAX_SAFE_INTEGER))}`,
    );
  }
  if (timestamp <= ageAt - source.retentionDays * MICROS_PER_DAY) {
    throw new RefusedEvent(
      `is older than the ${source.retentionDays} days that ${source.name} keeps: ${formatInstant(timestamp)}`,
    );
  }
  return requireStorable(timestamp);
}

function requireStorable(timestamp: Micros): Micros {
  if (timestamp >= EARLIEST_STORED_MICROS && timestamp <= LATEST_STORED_MICROS) return timestamp;
  throw new RefusedEvent(
    `has a timestamp outside of the years that can be stored, 1970 to 2149-06-06: ${formatInstant(timestamp)}`,
  );
}

const EPOCH = /^(\d{1,19})(?:\.(\d{1,18}))?$/;

/**
 * Reads the value of an event's `timestamp`: ISO 8601 as `parseInstant` does, or a count since 1970. The digits before the point
 * give its unit: up to 11 are seconds, up to 14 milliseconds, up to 17 microseconds, more nanoseconds.
 *
 * @param text the JSON text of the value, so that a count beyond 2^53 is exact
 * @returns `undefined` if it is not a timestamp
 */
export function parseTimestamp(text: string): Micros | undefined {
  const value = text.startsWith('"') ? (JSON.parse(text) as string).trim() : text; // JSON.parse of a string literal
  const epoch = EPOCH.exec(value);
  // Eight digits in a string are a date, 20261120, as in ISO 8601's basic form.
  if (epoch === null || (text.startsWith('"') && value.length === 8)) return parseInstant(value);
  const [, digits = '', fraction = ''] = epoch;
  if (digits.length > 17) return Number(digits.slice(0, -3));
  const shift = digits.length > 14 ? 0 : digits.length > 11 ? 3 : 6;
  return Number(digits + fraction.slice(0, shift).padEnd(shift, '0'));
}

function projectOf(
  event: Record<string, unknown>,
  source: Source,
  { project, pinnedProject }: EventRules,
): string {
  const named = findProject(event, source) ?? pinnedProject;
  if (pinnedProject === undefined || named === pinnedProject) return named ?? project;
  throw new RefusedEvent(
    `names the project ${JSON.stringify(named?.slice(0, NAMED_CHARS_MAX))}, but the key sends for ${JSON.stringify(pinnedProject)} only`,
  );
}

function findProject(event: Record<string, unknown>, source: Source): string | undefined {
  for (const path of source.projectPaths) {
    const project = findValue(event, path);
    if (typeof project === 'string' && project !== '') return project;
  }
  return undefined;
}

/** Returns the value of a JSON string; any other value as its JSON. */
function textOf(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Replaces line breaks by spaces: valid JSON has them only between its tokens, and answers need one line a row. */
function toOneLine(json: string): string {
  return /[\n\r]/.test(json) ? json.replaceAll(/[\n\r]/g, ' ') : json;
}
