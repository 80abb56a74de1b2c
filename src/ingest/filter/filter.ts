import { isDeepStrictEqual } from 'node:util';
import type { EventFilter, Redaction } from '../../definitions/accepts.ts';
import type { Source } from '../../definitions/source.ts';
import { readYamlFile, type YamlPath } from '../../definitions/yaml-file.ts';
import type { Fault } from '../../errors.ts';
import { verifyCondition } from '../../search/condition.ts';
import { parseSearch } from '../../search/parse.ts';
import { messageOfFault } from '../../search/verify.ts';
import { createReplace } from '../../sql/pattern.ts';
import { EVENT_BYTES_MAX, type Event, textOf } from '../event.ts';
import { readString } from '../json/grammar.ts';
import { cutElements, cutMembers, type Member } from '../json/scan.ts';
import { RejectedEvent, readEvent, typedValues } from '../read-event.ts';
import { createMatch } from './match.ts';

/** Terms of one search of a source's file. */
const CLAUSES_MAX = 32;

/** The rules of a source's file, in the order in which they apply. */
export const FILTER_RULES = ['drop', 'redact'] as const;

/** Events to which each rule applied. */
export type FilterCounts = Record<(typeof FILTER_RULES)[number], number>;

export const createFilterCounts = (): FilterCounts => ({ drop: 0, redact: 0 });

/** Returns an event as it is stored, or `undefined` if it is not stored; counts the rule that applied. */
type Filter = (event: Event, counts: FilterCounts) => Event | undefined;

/** By id of the source. */
const filters = new Map<string, { readonly text: string; readonly filter: Filter }>();

/** Returns the rules of a source's file, compiled when they change; `undefined` if it has none. */
export function findFilter(source: Source): Filter | undefined {
  if (source.filter === undefined) return undefined;
  const text = JSON.stringify(source); // a decoding thread gets a copy of the source with each body
  const known = filters.get(source.id);
  if (known?.text === text) return known.filter;
  const filter = createFilter(source, source.filter);
  filters.set(source.id, { text, filter });
  return filter;
}

// Within both bounds the largest body that is decoded inline takes at most twice its time.
const INLINE_PATHS_MAX = 4;
const INLINE_SEARCH_CHARS_MAX = 1_000;

/** Whether the rules of a source may take long, as patterns of RE2 do: its events are decoded on a thread, however few. */
export function isSlowFilter({ filter }: Pick<Source, 'filter'>): boolean {
  if (filter === undefined) return false;
  if (filter.drop.join('').length > INLINE_SEARCH_CHARS_MAX) return true;
  const paths = filter.redact.map((rule) => ('paths' in rule ? rule.paths.length : INLINE_PATHS_MAX + 1));
  return paths.reduce((sum, count) => sum + count, 0) > INLINE_PATHS_MAX;
}

function createFilter(source: Source, { drop, redact }: EventFilter): Filter {
  const dropped = drop.map((search) => createMatch(parseSearch(search, CLAUSES_MAX), source));
  const change = redact.length === 0 ? undefined : createRedact(source, redact);
  return (event, counts) => {
    if (dropped.some((match) => match(event))) {
      counts.drop++;
      return undefined;
    }
    const changed = change?.(event) ?? event;
    if (changed !== event) counts.redact++;
    return changed;
  };
}

/** Checks the searches, fields and patterns of `drop` and `redact`. */
export async function verifyFilters(sources: readonly Source[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const source of sources)
    for (const [path, message] of findFaults(source)) {
      const yaml = await readYamlFile(source.file);
      faults.push(Array.isArray(yaml) ? { file: source.file, line: 1, message } : yaml.fault(path, message));
    }
  return faults;
}

function* findFaults(source: Source): Generator<readonly [YamlPath, string]> {
  const { filter } = source;
  if (filter === undefined) return;
  for (const [i, search] of filter.drop.entries()) {
    const message = messageOfFault(() => verifyCondition(parseSearch(search, CLAUSES_MAX)));
    if (message !== undefined) yield [['drop', String(i)], `"drop" ${message}`];
  }
  for (const [i, rule] of filter.redact.entries()) {
    const message = findRedactionFault(rule, source);
    if (message !== undefined) yield [['redact', String(i)], `"redact" ${message}`];
  }
}

function findRedactionFault(rule: Redaction, { projectPaths, idPaths = [] }: Source): string | undefined {
  if ('pattern' in rule) {
    const replace = createReplace(rule.pattern, rule.replacement);
    return typeof replace === 'string' ? `has a pattern that ${replace}` : undefined;
  }
  const paths = [['id'], ['timestamp'], ['metadata'], ...projectPaths, ...idPaths];
  const kept = paths.map((path) => path.join('.'));
  const named = rule.paths.map((path) => path.join('.')).find((path) => kept.includes(path));
  if (named === undefined) return undefined;
  return (
    `cannot replace ${named}, from which the id, the time, the project or all metadata of an ` +
    'event is read; name other fields'
  );
}

/** Replaces a text; returns the same text if there is nothing to replace. */
type Replace = (text: string) => string;

const MESSAGE = 'event_message';

/**
 * Creates what replaces the values of an event that must not be stored. The message and the typed columns follow, even
 * if they are read from a replaced value; the id, the time and the project stay as they are.
 *
 * @param rules that `verifyFilters` accepts
 */
function createRedact(source: Source, rules: readonly Redaction[]): (event: Event) => Event {
  const steps = rules.map((rule) => ('pattern' in rule ? ofPattern(rule) : ofField(rule, source)));
  return (event) => {
    const before = membersOf(event);
    const stopLate = createStopLate();
    const after = steps.reduce((members, step) => checkSize(step(members, event, stopLate)), before);
    const isSame = after.every(({ text }, i) => text === before[i]?.text);
    return isSame ? event : toEvent(event, after, source);
  };
}

// For patterns whose time may grow with the square of a text, which a sender could choose so that it takes hours.
const REDACT_MS_MAX = 2_000;

/** Returns what throws a RejectedEvent when an event has taken too long. */
function createStopLate(): () => void {
  const until = performance.now() + REDACT_MS_MAX;
  return () => {
    if (performance.now() > until)
      throw new RejectedEvent(
        `takes longer than ${REDACT_MS_MAX} ms to redact by the patterns of its source`,
      );
  };
}

// A replacement may be longer than what it replaces, and the next step replaces in its text.
const REDACTED_CHARS_MAX = 2 * EVENT_BYTES_MAX;

/** @throws RejectedEvent if redaction has made an event too large */
function checkSize(members: readonly Member[]): readonly Member[] {
  if (members.reduce((sum, { text }) => sum + text.length, 0) <= REDACTED_CHARS_MAX) return members;
  throw new RejectedEvent(`has more than ${REDACTED_CHARS_MAX} characters after redaction`);
}

/** A step of redaction: the members of an event before and after it. */
type Step = (members: readonly Member[], event: Event, stopLate: () => void) => readonly Member[];

function ofPattern({ pattern, replacement }: Extract<Redaction, { pattern: string }>): Step {
  const replace = createReplace(pattern, replacement);
  if (typeof replace === 'string') throw new Error(`the pattern ${replace}`); // verifyFilters rejects it
  return (members, _, stopLate) => {
    const replaceOne: Replace = (text) => replace(text, stopLate);
    return members.map(({ name, text }) => ({ name, text: replaceInStrings(text, replaceOne) }));
  };
}

function ofField(
  { paths, replacement }: Extract<Redaction, { paths: unknown }>,
  { messagePaths = [] }: Source,
): Step {
  const wanted = JSON.stringify(replacement);
  // Either may be the message, the other then an attribute.
  const names = (name: string) => (name === 'message' || name === MESSAGE ? [MESSAGE, 'message'] : [name]);
  const own = paths.flatMap(([first = '', ...rest]) => names(first).map((name) => [name, ...rest]));
  const isOfMessage = (path: readonly string[]) => messagePaths.some((one) => isDeepStrictEqual(one, path));
  return (members, event) =>
    own.reduce<readonly Member[]>((before, path) => {
      const found: string[] = [];
      const after = replaceMembers(before, path, (text) => {
        found.push(text);
        return wanted;
      });
      // The message may have been read from there, or from another place that has its copy.
      const isMessage = (text: string) => textOf(text) === event.message;
      if (path.length === 1 && path[0] === MESSAGE)
        return messagePaths.reduce(
          (rest, one) => replaceMembers(rest, one, (text) => (isMessage(text) ? wanted : text)),
          after,
        );
      return found.some(isMessage) && isOfMessage(path)
        ? replaceMembers(after, [MESSAGE], () => wanted)
        : after;
    }, members);
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

const toMember = (name: string, value: string): Member => ({ name, text: JSON.stringify(value) });

/** The parts of an event that may be replaced, as members of its root. */
function membersOf({ message, metadata, attributes }: Event): readonly Member[] {
  return [
    toMember(MESSAGE, message),
    ...(metadata === '' ? [] : [{ name: 'metadata', text: metadata }]),
    ...(attributes === '' ? [] : cutMembers(attributes)),
  ];
}

function toEvent(event: Event, members: readonly Member[], source: Source): Event {
  const attributes = members.filter(({ name }) => name !== MESSAGE && name !== 'metadata');
  const textOfMember = (name: string) => members.find((member) => member.name === name)?.text;
  const { id, project } = event;
  const unchanged = Object.entries({ id, project }).map(([name, value]) => toMember(name, value));
  const root = writeMembers([...members, ...unchanged]);
  const { at } = readEvent({ text: root }, source, Infinity);
  return {
    ...event,
    message: textOf(textOfMember(MESSAGE) ?? '""'),
    metadata: textOfMember('metadata') ?? '',
    attributes: attributes.length === 0 ? '' : writeMembers(attributes),
    typed: typedValues(at, project, source.columns),
  };
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
