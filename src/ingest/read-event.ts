import { isAscii, isUtf8 } from 'node:buffer';
import { levelOfNumber } from '../definitions/level.ts';
import type { ColumnType, Source, SourceColumn } from '../definitions/source.ts';
import { isObject, tryParse } from '../lib/json.ts';
import { remember } from '../lib/single-flight.ts';
import type { DecodedEvent, NestedValue, WireEvent } from './body-format.ts';
import { NOT_JSON, type Path, type PathPlan, planPaths, readString } from './json/grammar.ts';
import {
  dropDuplicates,
  type JsonLimits,
  type JsonPlace,
  type JsonScan,
  MEMBER_SPANS,
  scanJson,
} from './json/scan.ts';

/** Why an event is not stored; the message completes the sentence "event 3 …". */
export class RejectedEvent extends Error {
  override readonly name = 'RejectedEvent';

  constructor(reason: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // capturing a stack takes longer than parsing an event
    super(reason);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Characters of a project's name in a reason. */
export const NAMED_CHARS_MAX = 100;

const LIMITS: JsonLimits = { depthMax: 100, keysMax: 10_000, keyCharsMax: 1_000 };

/** An event whose JSON has been read: `members` have the exact text of their values, in their order. */
export interface ReadEvent extends Pick<JsonScan, 'hasBreaks'>, Pick<DecodedEvent, 'members'> {
  /** An object or array is a NestedValue. */
  readonly at: ReadPath;
}

/** The values that a row needs beside the members of its event: of an event, and of a document, which is its metadata. */
interface EventPlan {
  readonly event: PathPlan;
  readonly document: PathPlan;
}

export const PROJECT = ['project'];

const planOf = remember((source: Source): EventPlan => {
  const paths = [
    PROJECT,
    ...source.projectPaths,
    ...(source.messagePaths ?? []),
    ...(source.timePaths ?? []),
    ...(source.idPaths ?? []),
    ...source.columns.flatMap(({ path, otherPaths }) => [path, ...otherPaths]),
  ];
  const inside = paths.filter(([first, ...rest]) => first === 'metadata' && rest.length > 0);
  return { event: planPaths(paths), document: planPaths(inside, 1) };
});

/** Reads the JSON of one event of `source`. @throws RejectedEvent if it is too large, not an object or beyond the limits */
export function readEvent(wire: WireEvent, source: Source, bytesMax: number): ReadEvent {
  if ('rejected' in wire) throw new RejectedEvent(wire.rejected);
  if ('text' in wire && wire.decoded !== undefined)
    if (wire.text.length <= Math.min(DECODED_CHARS_MAX, bytesMax / UTF8_BYTES_MAX))
      return readDecoded(wire.decoded);
  const bytes = 'line' in wire ? wire.line : Buffer.from(wire.text);
  if (bytes.length > bytesMax) throw new RejectedEvent(`is larger than ${bytesMax} bytes`);
  const { event, document } = planOf(source);
  if ('line' in wire && wire.documentId !== undefined)
    return readDocument(scan(bytes, document), wire.documentId);
  const { spans, cut, at, hasBreaks } = scan(bytes, event);
  const members: [string, string][] = [];
  for (let i = 0; i < spans.length; i += MEMBER_SPANS)
    members.push([readString(cut(spans[i], spans[i + 1])), cut(spans[i + 2], spans[i + 3])]);
  return { members, at, hasBreaks };
}

// A shorter text has fewer keys than the limit: each takes five characters at least, such as `"":1,`.
const DECODED_CHARS_MAX = LIMITS.keysMax * 5;
// Most bytes of one UTF-16 unit of JSON text.
const UTF8_BYTES_MAX = 3;

function readDecoded({ members, find }: DecodedEvent, hasBreaks = false): ReadEvent {
  const at = (path: Path): unknown => {
    const first = path[0];
    if (first === 'metadata' && path.length > 1) return find(path);
    const json = members.find(([name]) => name === first)?.[1];
    if (path.length > 1) return json?.startsWith('{') ? readInside(json, path) : undefined;
    if (json === undefined) return undefined;
    return /^[[{]/.test(json) ? ({ json } satisfies NestedValue) : JSON.parse(json);
  };
  return { members, at, hasBreaks };
}

/** Reads a value inside of a member, such as a message. */
const readInside = (json: string, path: Path) => scan(Buffer.from(json), planPaths([path], 1)).at(path);

interface Scanned extends Pick<JsonScan, 'spans' | 'hasBreaks'> {
  readonly cut: (start?: number, end?: number) => string;
  readonly at: ReadPath;
}

/** Scans an event, of whose members with equal names only the last counts. Bytes that are not UTF-8 become U+FFFD. */
function scan(bytes: Buffer, paths: PathPlan): Scanned {
  const text = isAscii(bytes) ? bytes.toString('latin1') : undefined;
  if (text === undefined && !isUtf8(bytes)) return scan(Buffer.from(bytes.toString()), paths);
  const cut = (start = 0, end = 0) => text?.slice(start, end) ?? bytes.toString('utf8', start, end);
  try {
    const found = scanJson(bytes, { limits: LIMITS, paths, text });
    const unique = found.mayHaveDuplicates ? dropDuplicates(bytes) : bytes;
    if (unique !== bytes) return scan(unique, paths);
    const { spans, values, hasBreaks } = found;
    const at: ReadPath = (path) => {
      const value = values[paths.slots.get(path) ?? -1];
      if (typeof value !== 'object' || value === null) return value;
      const { start, end } = value as JsonPlace; // the scan returns no other objects
      return { json: cut(start, end) } satisfies NestedValue;
    };
    if (found.kind === 'object') return { spans, hasBreaks, cut, at };
  } catch (error) {
    if (error === NOT_JSON) throw new RejectedEvent('is not valid JSON');
    if (!(error instanceof RangeError)) throw error;
    // The scan has ended at the limit: whether the rest is JSON says the parser, once for such an event.
    const value = tryParse(bytes.toString());
    if (value === undefined) throw new RejectedEvent('is not valid JSON');
    if (isObject(value)) throw new RejectedEvent(error.message);
  }
  throw new RejectedEvent('is not a JSON object');
}

/** The names of a document's members that become members of its event: the first that is there. Others are metadata. */
const OWN_NAMES = [
  ['timestamp', ['@timestamp', 'timestamp']],
  ['event_message', ['message']],
] as const;

/** Reads a document as an event without writing its JSON: members that follow each other are cut as one text. */
function readDocument({ spans, cut, at, hasBreaks }: Scanned, id: string): ReadEvent {
  const names: string[] = [];
  for (let i = 0; i < spans.length; i += MEMBER_SPANS) names.push(readString(cut(spans[i], spans[i + 1])));
  const members: [string, string][] = [['id', JSON.stringify(id)]];
  const own = new Set<string>();
  for (const [role, known] of OWN_NAMES) {
    const name = known.find((one) => names.includes(one));
    if (name === undefined) continue;
    const place = names.indexOf(name) * MEMBER_SPANS;
    members.push([role, cut(spans[place + 2], spans[place + 3])]);
    own.add(name);
  }
  const runs: string[] = [];
  let start = 0;
  for (let i = 0; i <= names.length; i++) {
    if (i < names.length && !own.has(names[i] ?? '')) continue;
    if (i > start) runs.push(cut(spans[start * MEMBER_SPANS], spans[i * MEMBER_SPANS - 1]));
    start = i + 1;
  }
  members.push(['metadata', `{${runs.join(',')}}`]);
  return readDecoded({ members, find: (path) => (own.has(path[1] ?? '') ? undefined : at(path)) }, hasBreaks);
}

const ACCEPTS: Record<ColumnType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  keyword: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
};

/** Returns the content of a typed column. src/engine/table.ts has the same rule in SQL, for rows older than the column. */
export const typedValue = (value: unknown, type: ColumnType) => (ACCEPTS[type](value) ? value : null);

/** Returns the value of an event at one of its source's paths. */
type ReadPath = (path: Path) => unknown;

const LEVEL_NUMBER = /^\d{1,2}$/;

/** Returns the value of the first of the column's paths that has one of its type. */
function findTyped(read: ReadPath, { path, otherPaths, type, isLevel }: SourceColumn): unknown {
  const readTyped = (one: Path) => {
    const value = read(one);
    const typed = typedValue(value, type);
    if (!isLevel) return typed;
    // Loki's labels, journald's and rsyslog's fields are texts.
    const isNumber = typeof value === 'number' || (typeof value === 'string' && LEVEL_NUMBER.test(value));
    return (isNumber ? levelOfNumber(Number(value)) : undefined) ?? typed;
  };
  let value = readTyped(path);
  for (let i = 0; value === null && i < otherPaths.length; i++) value = readTyped(otherPaths[i] ?? []);
  return value;
}

/** Returns the values of an event's typed columns, in their order. */
export function typedValues(read: ReadPath, project: string, columns: readonly SourceColumn[]): unknown[] {
  const values = columns.map((column) => findTyped(read, column));
  const columnValue = (name: string) => values[columns.findIndex((column) => column.name === name)];
  // By index: an iterator over entries takes several times as long.
  for (let i = 0; i < columns.length; i++) {
    const otherwise = columns[i]?.otherwise;
    if (otherwise === undefined || values[i] !== null) continue;
    values[i] = otherwise.map((name) => (name === 'project' ? project : columnValue(name)) ?? '').join('');
  }
  for (let i = 0; i < columns.length; i++) {
    const contains = columns[i]?.contains;
    if (contains === undefined) continue;
    const text = String(columnValue(contains.column) ?? '');
    values[i] = text.toWellFormed().includes((contains.text ?? project).toWellFormed());
  }
  return values;
}
