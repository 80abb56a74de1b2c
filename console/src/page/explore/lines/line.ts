import { formatJson, type Row } from '../../../api/answer.ts';
import { formatField, formatTerm, joinSearches } from '../../../format/search-text.ts';
import { ownMember } from '../../../format/values.ts';

export type Line = ReturnType<typeof toLine>;

/** As many as a browser lists smoothly. */
export const LINES_MAX = 10_000;

export function toLine(row: Row) {
  const { level, metadata } = row;
  const text = (name: string) => String(row[name] ?? '');
  /** Microseconds since the epoch. */
  const micros = Number(row['timestamp']);
  const [source, id, project] = [text('source'), text('id'), text('project')];
  return {
    /** Unique among all lines. */
    key: JSON.stringify([source, id, micros, project]),
    ...{ source, id, micros, project, metadata },
    level: typeof level === 'string' ? level : null,
    message: text('event_message'),
    /** As the service sent it, exactly. */
    row,
  };
}

/** Newest first, without duplicates; of more than `LINES_MAX` the newest. */
export function mergeLines(kept: readonly Line[], found: readonly Line[]): readonly Line[] {
  if (found.length === 0) return kept;
  const all = new Map([...kept, ...found].map((line) => [line.key, line]));
  return [...all.values()].sort(compareLines).slice(0, LINES_MAX);
}

/** The order of the service: newest first. */
function compareLines(a: Line, b: Line): number {
  return b.micros - a.micros || compareText(b.id, a.id) || compareText(b.source, a.source);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A field of a line: its name as a search writes it, and its value. */
export interface Attribute {
  readonly field: string;
  readonly value: unknown;
}

/** Records may have any number of members. */
export const ATTRIBUTES_MAX = 500;
const DEPTH_MAX = 20;

/** Each value of the metadata, with its path: of arrays, whose members no search can name, as a whole. */
export function attributesOf(metadata: unknown): Attribute[] {
  const found: Attribute[] = [];
  const walk = (value: unknown, path: readonly string[]) => {
    if (found.length > ATTRIBUTES_MAX) return;
    const members = isObject(value) && path.length < DEPTH_MAX ? Object.entries(value) : [];
    if (members.length === 0) found.push({ field: fieldOf(path), value });
    for (const [name, member] of members) walk(member, [...path, name]);
  };
  walk(metadata, []);
  return found;
}

/** Columns of a row: as a field, the name of a column does not mean a member of the metadata. */
const COLUMNS = ['source', 'id', 'timestamp', 'project', 'level', 'event_message', 'metadata'];

function fieldOf(path: readonly string[]): string {
  const [first = 'metadata'] = path;
  const isRow = first === 'metadata' || (path.length === 1 && COLUMNS.includes(first));
  return formatField(path.length === 0 ? ['metadata'] : isRow ? ['metadata', ...path] : path);
}

/** The value of a field as a search writes it; `undefined` if the line has none. */
export function valueAt(line: Line, field: string): unknown {
  const path = parsePath(field);
  const [first, ...rest] = path;
  if (first === undefined) return undefined;
  if (path.length === 1 && Object.hasOwn(line.row, first)) return line.row[first];
  return (first === 'metadata' ? rest : path).reduce<unknown>(
    (value, name) => (isObject(value) ? ownMember(value, name) : undefined),
    line.metadata,
  );
}

function parsePath(field: string): string[] {
  const names = field.match(/"(?:[^"\\]|\\[\s\S])*"|[^".]+/g) ?? [];
  return names.map((name) =>
    name.startsWith('"') ? name.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : name,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as text: texts as they are, others as JSON. */
export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : formatJson(value, 0);
}

/** `<micros>:<source>:<id>`: the time says where to read, since the service reads from the newest line on. */
export function formatAt({ micros, source, id }: Pick<Line, 'micros' | 'source' | 'id'>): string {
  return `${micros}:${source}:${id}`;
}

/** @returns undefined if the text does not name a line */
export function parseAt(text: string) {
  const [, micros, source = '', id = ''] = /^(-?\d{1,16}):([^:]*):([\s\S]*)$/.exec(text) ?? [];
  return micros === undefined ? undefined : { micros: Number(micros), source, id };
}

/** The term for events that have this value in a field; of arrays and objects, for those that have any. */
export function termOf(field: string, value: unknown): string {
  if (value === null || value === undefined) return `-${field}:*`;
  return typeof value === 'object' ? `${field}:*` : formatTerm(field, formatValue(value));
}

export function exclude(term: string): string {
  return term.startsWith('-') ? term.slice(1) : `-${term}`;
}

/** A search with one more term. A term that it ends with is not added twice. */
export function addTerm(q: string, term: string): string {
  const text = q.trim();
  return text === term || text.endsWith(` ${term}`) ? q : joinSearches([text, term]);
}
