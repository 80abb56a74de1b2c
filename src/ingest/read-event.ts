import { isAscii } from 'node:buffer';
import { levelOfNumber } from '../definitions/level.ts';
import type { ColumnType, Source, SourceColumn } from '../definitions/source.ts';
import { isObject, tryParse } from '../lib/json.ts';
import type { DecodedEvent, NestedValue, WireEvent } from './body-format.ts';
import { dropDuplicates } from './json/duplicates.ts';
import { NOT_JSON, type PathNode, type PathPlan, planPaths, readString } from './json/grammar.ts';
import {
  findName,
  type JsonLimits,
  type JsonPlace,
  type JsonScan,
  MEMBER_SPANS,
  type Named,
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

const LIMITS: JsonLimits = { depthMax: 100, keysMax: 10_000, keyCharsMax: 1_000 };

/** An event whose JSON has been read: `members` have the exact text of their values, in their order. */
export interface ReadEvent extends Pick<JsonScan, 'hasBreaks'>, Pick<DecodedEvent, 'members'> {
  /** An object or array is a NestedValue. */
  readonly at: ReadPath;
}

type Path = readonly string[];

/** The values that a row needs beside the members of its event, by the paths of the event. */
interface EventPlan extends PathPlan {
  readonly slotOf: ReadonlyMap<Path, number>;
  readonly document: DocumentPlan;
}

export const PROJECT = ['project'];
const plans = new WeakMap<Source, EventPlan>();

function planOf(source: Source): EventPlan {
  const known = plans.get(source);
  if (known !== undefined) return known;
  const paths = [
    PROJECT,
    ...source.projectPaths,
    ...(source.messagePaths ?? []),
    ...(source.timePaths ?? []),
    ...(source.idPaths ?? []),
    ...source.columns.flatMap(({ path, otherPaths }) => [path, ...otherPaths]),
  ];
  const { root, slots } = planPaths(paths);
  const slotOf = new Map(paths.map((path, i) => [path, slots[i] ?? 0]));
  const plan = { root, slots, slotOf, document: planDocument([...slotOf.keys()]) };
  plans.set(source, plan);
  return plan;
}

/** Reads the JSON of one event of `source`. @throws RejectedEvent if it is too large, not an object or beyond the limits */
export function readEvent(wire: WireEvent, source: Source, bytesMax: number): ReadEvent {
  if ('rejected' in wire) throw new RejectedEvent(wire.rejected);
  if ('text' in wire && wire.decoded !== undefined && wire.text.length <= bytesMax / UTF8_BYTES_MAX)
    return readDecoded(wire.decoded);
  const received = 'line' in wire ? wire.line : Buffer.from(wire.text);
  if (received.length > bytesMax) throw new RejectedEvent(`is larger than ${bytesMax} bytes`);
  const bytes = wire.isRepaired === true ? Buffer.from(received.toString()) : received;
  if ('line' in wire && wire.documentId !== undefined)
    return readDocument(bytes, wire.documentId, planOf(source).document);
  const plan = planOf(source);
  const { spans, values, hasBreaks, cut } = scan(bytes, plan);
  const members: [string, string][] = [];
  for (let i = 0; i < spans.length; i += MEMBER_SPANS)
    members.push([readString(cut(spans[i], spans[i + 1])), cut(spans[i + 2], spans[i + 3])]);
  return { members, at: reader(plan.slotOf, values, cut), hasBreaks };
}

// Of a character in JSON.
const UTF8_BYTES_MAX = 3;

function readDecoded({ members, find }: DecodedEvent, hasBreaks = false): ReadEvent {
  const at = (path: Path): unknown => {
    const first = path[0];
    if (first === 'metadata' && path.length > 1) return find(path);
    const json = members.find(([name]) => name === first)?.[1];
    if (path.length > 1) return json?.startsWith('{') ? readInside(json, path.slice(1)) : undefined;
    if (json === undefined) return undefined;
    return /^[[{]/.test(json) ? ({ json } satisfies NestedValue) : JSON.parse(json);
  };
  return { members, at, hasBreaks };
}

/** Reads a value inside of an object, such as a message. */
function readInside(json: string, path: Path): unknown {
  const plan = planPaths([path]);
  const { values, cut } = scan(Buffer.from(json), plan);
  return reader(new Map([[path, 0]]), values, cut)(path);
}

function reader(slotOf: EventPlan['slotOf'], values: readonly unknown[], cut: Scanned['cut']): ReadPath {
  return (path) => {
    const value = values[slotOf.get(path) ?? -1];
    if (typeof value !== 'object' || value === null) return value;
    const { start, end } = value as JsonPlace; // the scan returns no other objects
    return { json: cut(start, end) } satisfies NestedValue;
  };
}

interface Scanned extends Pick<JsonScan, 'spans' | 'values' | 'hasBreaks'> {
  readonly bytes: Buffer;
  readonly cut: (start?: number, end?: number) => string;
}

/** Scans an event, of whose members with equal names only the last counts. */
function scan(bytes: Buffer, paths: PathPlan): Scanned {
  const text = isAscii(bytes) ? bytes.toString('latin1') : undefined;
  const cut = (start = 0, end = 0) => text?.slice(start, end) ?? bytes.toString('utf8', start, end);
  try {
    const found = scanJson(bytes, { limits: LIMITS, paths, text });
    const unique = found.mayHaveDuplicates ? dropDuplicates(bytes) : bytes;
    if (unique !== bytes) return scan(unique, paths);
    const { spans, values, hasBreaks } = found;
    if (found.kind === 'object') return { spans, values, hasBreaks, cut, bytes };
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
const OWN_NAMES = {
  timestamp: ['@timestamp', 'timestamp'],
  event_message: ['message'],
} as const;

interface OwnName extends Named {
  readonly role: string;
  /** The least of a role counts. */
  readonly rank: number;
  /** Slots of values inside of it; see `PathNode`. */
  readonly node: Pick<PathNode, 'from' | 'before'> | undefined;
}

/** The values that a row needs, by the paths of the document. */
interface DocumentPlan extends PathPlan {
  /** By the path of the event. */
  readonly slotOf: ReadonlyMap<Path, number>;
  readonly own: readonly OwnName[];
}

function planDocument(paths: readonly Path[]): DocumentPlan {
  const inside = paths.filter(([first, ...rest]) => first === 'metadata' && rest.length > 0);
  const { root, slots } = planPaths(inside.map(([, ...rest]) => rest));
  const slotOf = new Map(inside.map((path, i) => [path, slots[i] ?? -1]));
  const own = Object.entries(OWN_NAMES).flatMap(([role, names]) =>
    names.map((name, rank) => ({
      ...{ name, bytes: Buffer.from(name), role, rank },
      node: root.children.find((child) => child.name === name),
    })),
  );
  return { root, slots, slotOf, own };
}

/** Reads a document as an event without writing its JSON. */
function readDocument(bytes: Buffer, id: string, plan: DocumentPlan): ReadEvent {
  const scanned = scan(bytes, plan);
  const { spans, values, hasBreaks, cut } = scanned;
  const found = findOwn(plan.own, scanned);
  const members: [string, string][] = [['id', JSON.stringify(id)]];
  for (const [at, { role, node }] of found) {
    members.push([role, cut(spans[at + 2], spans[at + 3])]);
    if (node !== undefined) values.fill(undefined, node.from, node.before);
  }
  members.push(['metadata', `{${cutOthers(scanned, found).join(',')}}`]);
  return readDecoded({ members, find: reader(plan.slotOf, values, cut) }, hasBreaks);
}

/** Returns the names that count, by the places of their spans. */
function findOwn(own: readonly OwnName[], { spans, bytes }: Scanned): ReadonlyMap<number, OwnName> {
  const found = new Map<string, { readonly at: number; readonly name: OwnName }>();
  for (let at = 0; at < spans.length; at += MEMBER_SPANS) {
    const name = findName(own, bytes, spans[at] ?? 0, spans[at + 1] ?? 0);
    if (name === undefined) continue;
    const other = found.get(name.role)?.name;
    if (other === undefined || name.rank < other.rank) found.set(name.role, { at, name });
  }
  return new Map([...found.values()].map(({ at, name }) => [at, name]));
}

/** Cuts the other members; those that follow each other as one text. */
function cutOthers({ spans, cut }: Scanned, own: ReadonlyMap<number, OwnName>): string[] {
  const runs: string[] = [];
  let start = 0;
  for (const at of [...own.keys(), spans.length].toSorted((a, b) => a - b)) {
    if (at > start) runs.push(cut(spans[start], spans[at - 1]));
    start = at + MEMBER_SPANS;
  }
  return runs;
}

const ACCEPTS: Record<ColumnType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  keyword: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
};

/**
 * Returns the content of a typed column: the value if the type fits, else null. src/engine/table.ts states the same
 * rule in SQL, for rows that were stored before the column was added.
 */
export function typedValue(value: unknown, type: ColumnType): unknown {
  return ACCEPTS[type](value) ? value : null;
}

/** Returns the value of an event at one of its source's paths, as `findValue` does. */
type ReadPath = (path: readonly string[]) => unknown;

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
