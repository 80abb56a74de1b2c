import { isAscii } from 'node:buffer';
import type { Source } from '../definitions/source.ts';
import type { WireEvent } from './body-format.ts';
import { planDocument, readDocument, sharedBytes, type WireDocument } from './document.ts';
import { dropDuplicates } from './json/duplicates.ts';
import { NOT_JSON, readString } from './json/grammar.ts';
import { type PathPlan, planPaths } from './json/paths.ts';
import { type JsonLimits, type JsonScan, MEMBER_SPANS, scanJson } from './json/scan.ts';
import { isObject, tryParse } from './json/value.ts';
import type { ReadPath } from './typed.ts';

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

/** The event is not a JSON object. */
class NotAnObject extends RefusedEvent {}

const LIMITS: JsonLimits = { depthMax: 100, keysMax: 10_000, keyCharsMax: 1_000 };

/** An event whose JSON has been read. */
export interface ReadEvent extends Pick<JsonScan, 'hasBreaks'> {
  /** Top-level members with the exact text of their values, in their order. */
  readonly members: readonly { readonly name: string; readonly text: string }[];
  /** An object or array is its place, see `JsonScan`. */
  readonly at: ReadPath;
  /** The text of a place. */
  readonly cut: (start?: number, end?: number) => string;
}

interface EventPlan extends PathPlan {
  readonly slotOf: ReadonlyMap<readonly string[], number>;
}

export const PROJECT = ['project'];
const plans = new WeakMap<Source, EventPlan>();

/** Plans the values that an event's row needs beside its members. */
function planOf(source: Source): EventPlan {
  const known = plans.get(source);
  if (known !== undefined) return known;
  const paths = [
    PROJECT,
    ...source.projectPaths,
    ...(source.messagePaths ?? []),
    ...(source.idPaths ?? []),
    ...source.columns.flatMap(({ path, otherPaths }) => [path, ...otherPaths]),
  ];
  const plan = planPaths(paths);
  const own = { ...plan, slotOf: new Map(paths.map((path, i) => [path, plan.slots[i] ?? 0])) };
  plans.set(source, own);
  return own;
}

/** Reads the JSON of one event of `source`. @throws RefusedEvent if it is too large, not an object or beyond the limits */
export function readEvent(wire: WireEvent, source: Source, bytesMax: number): ReadEvent {
  if ('refused' in wire) throw new RefusedEvent(wire.refused);
  const received = 'line' in wire ? wire.line : Buffer.from(wire.text);
  const document = 'line' in wire ? wire.document : undefined;
  const size = received.length + (document === undefined ? 0 : sharedBytes(document));
  if (size > bytesMax) throw new RefusedEvent(`is larger than ${bytesMax} bytes`);
  const bytes = wire.isRepaired === true ? Buffer.from(received.toString()) : received;
  if (document !== undefined) return readByDocument(bytes, document, source);
  const plan = planOf(source);
  const { spans, values, hasBreaks, cut } = scan(bytes, plan);
  const members: ReadEvent['members'][number][] = [];
  for (let i = 0; i < spans.length; i += MEMBER_SPANS)
    members.push({
      name: readString(cut(spans[i], spans[i + 1])),
      text: cut(spans[i + 2], spans[i + 3]),
    });
  return { members, at: reader(plan.slotOf, values), cut, hasBreaks };
}

function readByDocument(bytes: Buffer, document: WireDocument, source: Source): ReadEvent {
  const { slotOf } = planOf(source);
  const plan = planDocument(slotOf, document.shape);
  try {
    const { values, hasBreaks, cut, ...scanned } = scan(bytes, plan);
    const { members, isDirect } = readDocument(document, plan, { ...scanned, values, cut });
    if (isDirect) return { members, at: reader(plan.slotOf, values), cut, hasBreaks };
    const written = members.map(({ name, text }) => `"${name}":${text}`); // names without escapes
    return readEvent({ text: `{${written.join(',')}}` }, source, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    if (document.isTextOtherwise !== true) throw new RefusedEvent('is not a JSON object');
    return readByDocument(EMPTY, asMessage(bytes, document), source);
  }
}

const EMPTY = Buffer.from('{}');

function asMessage(bytes: Buffer, { defaults, ...document }: WireDocument): WireDocument {
  const message = JSON.stringify(bytes.toString().replace(/\r$/, ''));
  return { ...document, defaults: { ...defaults, message }, isTextOtherwise: false };
}

function reader(slotOf: EventPlan['slotOf'], values: readonly unknown[]): ReadPath {
  return (path) => values[slotOf.get(path) ?? -1];
}

/** Scans an event, of whose members with equal names only the last counts. */
function scan(bytes: Buffer, paths: PathPlan): JsonScan & Pick<ReadEvent, 'cut'> & { bytes: Buffer } {
  const text = isAscii(bytes) ? bytes.toString('latin1') : undefined;
  const cut = (start = 0, end = 0) => text?.slice(start, end) ?? bytes.toString('utf8', start, end);
  try {
    const { kind, spans, values, hasBreaks, mayHaveDuplicates } = scanJson(bytes, {
      limits: LIMITS,
      paths,
      text,
    });
    const unique = mayHaveDuplicates ? dropDuplicates(bytes) : bytes;
    if (unique !== bytes) return scan(unique, paths);
    if (kind === 'object') return { kind, spans, values, hasBreaks, mayHaveDuplicates, cut, bytes };
  } catch (error) {
    if (error === NOT_JSON) throw new NotAnObject('is not valid JSON');
    if (!(error instanceof RangeError)) throw error;
    // The scan has ended at the limit: whether the rest is JSON says the parser, once for such an event.
    const value = tryParse(bytes.toString());
    if (value === undefined) throw new NotAnObject('is not valid JSON');
    if (isObject(value)) throw new RefusedEvent(error.message);
  }
  throw new NotAnObject('is not a JSON object');
}
