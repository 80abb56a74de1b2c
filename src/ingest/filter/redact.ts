import type { Redaction } from '../../definitions/event-filter.ts';
import type { Source } from '../../definitions/source.ts';
import { createReplace } from '../../sql/text-matcher.ts';
import { type Event, textOf } from '../event.ts';
import { readString } from '../json/grammar.ts';
import { cutElements, cutMembers, type Member } from '../json/text.ts';
import { readEvent } from '../read-event.ts';
import { typedValues } from '../typed.ts';

/** Replaces a text; returns the same text if there is nothing to replace. */
type Replace = (text: string) => string;

const MESSAGE = 'event_message';

/**
 * Creates what replaces the values of an event that must not be stored. The message and the typed columns follow, even
 * if they are read from a replaced value; the id, the time and the project stay as they are.
 *
 * @param rules that `verifyFilters` accepts
 */
export function createRedact(source: Source, rules: readonly Redaction[]): (event: Event) => Event {
  const steps = rules.map((rule) => ('pattern' in rule ? ofPattern(rule) : ofField(rule, source)));
  return (event) => {
    const before = membersOf(event);
    const after = steps.reduce((members, step) => step(members, event), before);
    const isSame = after.every(({ text }, i) => text === before[i]?.text);
    return isSame ? event : toEvent(event, after, source);
  };
}

/** A step of redaction: the members of an event before and after it. */
type Step = (members: readonly Member[], event: Event) => readonly Member[];

function ofPattern({ pattern, replacement }: Extract<Redaction, { pattern: string }>): Step {
  const replace = createReplace(pattern, replacement);
  if (typeof replace === 'string') throw new Error(`the pattern ${replace}`); // verifyFilters rejects it
  return (members) => members.map(({ name, text }) => ({ name, text: replaceInStrings(text, replace) }));
}

function ofField(
  { paths, replacement }: Extract<Redaction, { paths: unknown }>,
  { messagePaths = [] }: Source,
): Step {
  const wanted = JSON.stringify(replacement);
  const own = paths.map(([first = '', ...rest]) => [first === 'message' ? MESSAGE : first, ...rest]);
  const isOfMessage = (path: readonly string[]) => messagePaths.some((one) => isSamePath(one, path));
  return (members, event) =>
    own.reduce<readonly Member[]>((before, path) => {
      const found: string[] = [];
      const after = replaceMembers(before, path, (text) => {
        found.push(text);
        return wanted;
      });
      // The message may have been read from there.
      const isMessage = isOfMessage(path) && found.some((text) => textOf(text) === event.message);
      return isMessage ? replaceMembers(after, [MESSAGE], () => wanted) : after;
    }, members);
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/** Replaces the values at a path, in each element of arrays. */
function replaceMembers(
  members: readonly Member[],
  [name, ...rest]: readonly string[],
  replace: Replace,
): readonly Member[] {
  return members.map((member) => {
    if (member.name !== name) return member;
    return { name, text: replaceValue(member.text, rest, replace) };
  });
}

function replaceValue(text: string, path: readonly string[], replace: Replace): string {
  const first = text.trimStart()[0];
  if (first === '[' && path.length > 0) {
    const elements = cutElements(text);
    const changed = elements.map((element) => replaceValue(element, path, replace));
    return changed.every((element, i) => element === elements[i]) ? text : `[${changed.join(',')}]`;
  }
  if (path.length === 0) return text === 'null' ? text : replace(text);
  if (first !== '{') return text;
  const members = cutMembers(text);
  const changed = replaceMembers(members, path, replace);
  return changed.every((member, i) => member.text === members[i]?.text) ? text : writeMembers(changed);
}

function writeMembers(members: readonly Member[]): string {
  return `{${members.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** The parts of an event that may be replaced, as members of its root. */
function membersOf({ message, metadata, attributes }: Event): readonly Member[] {
  return [
    { name: MESSAGE, text: JSON.stringify(message) },
    ...(metadata === '' ? [] : [{ name: 'metadata', text: metadata }]),
    ...(attributes === '' ? [] : cutMembers(attributes)),
  ];
}

function toEvent(event: Event, members: readonly Member[], source: Source): Event {
  const attributes = members.filter(({ name }) => name !== MESSAGE && name !== 'metadata');
  const textOfMember = (name: string) => members.find((member) => member.name === name)?.text;
  const { id, project } = event;
  const unchanged = Object.entries({ id, project }).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  const root = writeMembers([...members, ...unchanged]);
  const { at } = readEvent({ text: root }, source, Number.POSITIVE_INFINITY);
  return {
    ...event,
    message: textOf(textOfMember(MESSAGE) ?? '""'),
    metadata: textOfMember('metadata') ?? '',
    attributes: attributes.length === 0 ? '' : writeMembers(attributes),
    typed: typedValues(at, project, source.columns),
  };
}

// The engine reads integers of 64 bits, and no JSON that has larger ones, or half a surrogate pair.
const SUSPECT = /\d{19}|\\u[dD][89a-fA-F]|\d{3}\.?\d*[eE]\+?\d|[eE]\+?\d{2}/;
const UNSIGNED_MAX = 2n ** 64n - 1n;
const SIGNED_MIN = -(2n ** 63n);

/**
 * Reads the value at a path of a JSON text as the engine's JSONExtractRaw does: a text, or the JSON of any other value;
 * of equal names the first.
 *
 * @returns `undefined` for null, without a value, and for JSON that the engine does not read
 */
export function readJsonText(json: string, path: readonly string[]): string | undefined {
  if (last.json !== json) last = { json, members: new Map(), isReadable: undefined };
  const value = findJson(json, path);
  if (value === undefined || value === 'null') return undefined;
  last.isReadable ??= !SUSPECT.test(json) || isReadable(json);
  if (!last.isReadable) return undefined;
  if (value.startsWith('"')) return readString(value);
  return /^[[{]/.test(value) ? writeJson(value) : writeNumber(value);
}

/** What was read of the last text: the terms of a search read one event after another. */
let last: {
  readonly json: string;
  readonly members: Map<string, readonly Member[]>;
  isReadable: boolean | undefined;
} = { json: '', members: new Map(), isReadable: undefined };

function cutOnce(text: string): readonly Member[] {
  const members = last.members.get(text) ?? cutMembers(text);
  last.members.set(text, members);
  return members;
}

function findJson(json: string, path: readonly string[]): string | undefined {
  let text: string | undefined = json;
  for (const name of path) {
    if (text === undefined || !/^\s*\{/.test(text)) return undefined;
    text = cutOnce(text).find((member) => member.name === name)?.text;
  }
  return text;
}

/** Whether the engine reads a JSON text. */
function isReadable(json: string): boolean {
  let readable = true;
  JSON.parse(json, function check(name: string, value: unknown, context?: { readonly source?: string }) {
    if (typeof value === 'number') readable &&= isReadableNumber(context?.source ?? '');
    else if (typeof value === 'string') readable &&= value.isWellFormed();
    readable &&= name.isWellFormed();
    return value;
  });
  return readable;
}

function isReadableNumber(source: string): boolean {
  if (!/^-?\d+$/.test(source)) return Number.isFinite(Number(source));
  const integer = BigInt(source);
  return integer >= SIGNED_MIN && integer <= UNSIGNED_MAX;
}

const TOKENS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*|\s+/g;

function writeJson(json: string): string {
  return json.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return JSON.stringify(readString(token));
    return /^\s/.test(token) ? '' : writeNumber(token);
  });
}

/** Writes a number, true or false as the engine does: an integer by its digits, any other number as a double. */
function writeNumber(source: string): string {
  if (!/^-?\d/.test(source)) return source;
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source;
  const double = Number(source);
  return Object.is(double, -0) ? '-0' : String(double).replace('e+', 'e');
}

const VALUES = /("[^"\\]*(?:\\[\s\S][^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/** Replaces texts and numbers of a JSON text, but not the names of members. A number that changes becomes a text. */
export function replaceInStrings(json: string, replace: (text: string) => string): string {
  return json.replaceAll(VALUES, (token, quoted: string | undefined, colon: string | undefined) => {
    if (colon !== undefined) return token;
    const text = quoted === undefined ? token : readString(quoted);
    const changed = replace(text);
    return changed === text ? token : JSON.stringify(changed);
  });
}
