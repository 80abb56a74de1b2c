import { isUtf8 } from 'node:buffer';
import {
  type CutOptions,
  createCharsBound,
  linesOf,
  refuseTooMany,
  type WireEvent,
  type WireEvents,
} from '../body-format.ts';
import { type SharedMembers, sharedBytes, type WireDocument } from '../document.ts';
import { decodeJsonBody, readJson, requireEnd } from '../json/body.ts';
import { nextToken, passArray, passValue } from '../json/cursor.ts';
import { NOT_JSON, OPEN_BRACKET } from '../json/grammar.ts';
import { type JsonLimits, scanJson } from '../json/scan.ts';
import { cutMembers } from '../json/text.ts';
import { isObject, tryParse } from '../json/value.ts';

/** The members of an object by name, each as its exact JSON text; of equal names the last, as in JSON.parse. */
export type Members = ReadonlyMap<string, string>;

/** @param text a JSON object, proven valid by `JSON.parse` */
export function membersOf(text: string): Members {
  return new Map(cutMembers(text).map((member) => [member.name, member.text]));
}

/** Writes members as the JSON text of an object; those without a text are left out. */
export function writeObject(members: Iterable<readonly [string, string | undefined]>): string {
  const parts: string[] = [];
  for (const [name, text] of members) if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  return `{${parts.join(',')}}`;
}

// More members are written into each event: comparing the names of each document with many would take long.
const SHARED_MAX = 32;
const SHARED_LIMITS: JsonLimits = { depthMax: 50, keysMax: 1_000, keyCharsMax: 1_000 };

/** Reads what documents have in common. @param text a JSON object @throws NOT_JSON */
export function readShared(text: string): SharedMembers {
  const values: unknown = tryParse(text);
  if (!isObject(values)) throw NOT_JSON;
  const texts = [...membersOf(text)];
  const members = texts.map(([name, value]) => ({
    ...{ name, bytes: Buffer.from(name) },
    text: `${JSON.stringify(name)}:${value}`,
  }));
  return { members, values, chars: text.length, isPlain: texts.length <= SHARED_MAX && isWithin(text) };
}

function isWithin(text: string): boolean {
  try {
    const { hasBreaks, mayHaveDuplicates } = scanJson(Buffer.from(text), { limits: SHARED_LIMITS });
    return !hasBreaks && !mayHaveDuplicates;
  } catch {
    return false;
  }
}

/** Collects events within the bounds of one body. @throws TailraceError `body_too_large` */
export function collectEvents(
  events: Iterable<WireEvent>,
  { charsMax }: Pick<CutOptions, 'charsMax'>,
): WireEvents {
  const bound = createCharsBound(charsMax);
  const list: WireEvent[] = [];
  for (const event of events) {
    bound(charsOf(event) + (event.echo?.length ?? 0));
    list.push(event);
    refuseTooMany(list.length);
  }
  return { events: list, fields: {} };
}

function charsOf(event: WireEvent): number {
  if ('refused' in event) return 0;
  if ('text' in event) return event.text.length;
  return event.line.length + (event.document === undefined ? 0 : sharedBytes(event.document));
}

/** Cuts a body that is a list of objects, or one of them; all are read as events in the same way. */
export function cutDocuments(received: Buffer, document: WireDocument, options: CutOptions): WireEvents {
  const { bytes, mark } = decodeJsonBody(received);
  const lines = readJson(bytes, cutLines);
  return mark(
    collectEvents(
      lines.map((line) => ({ line, document })),
      options,
    ),
  );
}

function cutLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  const cursor = { bytes, at: 0 };
  const pass = () => {
    const { start, end } = passValue(cursor);
    lines.push(bytes.subarray(start, end));
    refuseTooMany(lines.length);
  };
  if (nextToken(cursor) === OPEN_BRACKET) passArray(cursor, pass);
  else pass();
  requireEnd(cursor);
  return lines;
}

/** Writes each line of a body as an event. */
export function* lineEvents(bytes: Buffer, toEvent: (message: string) => WireEvent): Generator<WireEvent> {
  for (const { bytes: line } of linesOf(bytes)) {
    const event = toEvent(JSON.stringify(line.toString().replace(/\r$/, '')));
    yield isUtf8(line) ? event : { ...event, isRepaired: true };
  }
}
