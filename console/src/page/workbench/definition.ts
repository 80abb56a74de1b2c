import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import type { RunReport } from '../../../../src/management/view.ts';
import type { Table, Word } from '../../ui/editor/completion.ts';
import type { Files } from './api.ts';

/** The fields of an endpoint.yaml under work that the workbench reads; wrong ones are missing. */
export interface Outline {
  readonly name: string;
  readonly parameters: readonly Word[];
  /** Descriptions by name. */
  readonly columns: ReadonlyMap<string, string>;
}

const NOW: Word = { name: 'now', type: 'instant', description: 'Instant of the query, UTC.' };
const PAGE = ['page_from', 'page_until'];

export function readOutline(definition: string): Outline {
  const root = readRoot(definition);
  const columns = fieldsOf(root, 'columns');
  const words = fieldsOf(root, 'parameters').map(({ name, type, description }) => ({
    name,
    type,
    description,
  }));
  const added = root?.has('cursor') === true ? PAGE : [];
  return {
    name: String(root?.get('name') ?? ''),
    parameters: [...words, NOW, ...added.map((name) => ({ name }))],
    columns: new Map(columns.map(({ name, description }) => [name, description])),
  };
}

function readRoot(definition: string): YAMLMap | undefined {
  const { contents } = parseDocument(definition, { merge: true });
  return isMap(contents) ? contents : undefined;
}

function fieldsOf(root: YAMLMap | undefined, field: string) {
  const map = root?.get(field);
  if (!isMap(map)) return [];
  return map.items.map(({ key, value }) => ({
    name: String(key),
    type: isMap(value) ? String(value.get('type') ?? '') : '',
    description: isMap(value) ? String(value.get('description') ?? '') : '',
  }));
}

/**
 * Writes `columns` as the query returns them and leaves the rest of the text as it is. Descriptions that are there stay; others
 * come from the columns of `tables`, or are the name in words.
 */
export function withColumns(
  definition: string,
  columns: RunReport['columns'],
  tables: readonly Table[],
): string {
  const written = readOutline(definition).columns;
  const known = new Map(tables.flatMap((table) => table.columns.map((one) => [one.name, one.description])));
  const lines = columns.map(({ name, type }) => {
    const description = written.get(name) || known.get(name) || sentence(name);
    return `  ${scalar(name)}: { type: ${type}, description: ${scalar(description)} }`;
  });
  return replaceField(definition, 'columns', `columns:\n${lines.join('\n')}`);
}

/** The definition under another name and, for a copy, another id. */
export function withName(definition: string, name: string, id?: string): string {
  const named = replaceField(definition, 'name', `name: ${scalar(name)}`);
  return id === undefined ? named : replaceField(named, 'id', `id: ${id}`);
}

/** Replaces the lines of a field at the top level, or adds them at the end. */
function replaceField(definition: string, field: string, lines: string): string {
  const pair = readRoot(definition)?.items.find(({ key }) => isScalar(key) && key.value === field);
  const range = pair === undefined ? undefined : rangeOf(pair);
  if (range === undefined) return `${definition.trimEnd()}\n${lines}\n`.trimStart();
  const [from, to] = range;
  const end = definition.slice(0, to).trimEnd().length; // a folded text ends after its empty lines
  return definition.slice(0, from) + lines + definition.slice(end);
}

/** From the key to the end of the value, without the white space and comments that follow. */
function rangeOf({ key, value }: Pair): [from: number, to: number] | undefined {
  if (!isScalar(key) || key.range == null) return undefined;
  const [from, keyEnd] = key.range;
  const to = value instanceof Object && 'range' in value ? lastOf(value) : undefined;
  return [from, to ?? keyEnd + 1];
}

/** A map in block style ends with its last value: its own range has the empty lines and comments after it, too. */
function lastOf(node: object): number | undefined {
  if (isMap(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last === undefined ? undefined : rangeOf(last)?.[1];
  }
  const { range } = node as { range?: readonly [number, number, number] | null };
  return range?.[1];
}

/** One line of YAML in a flow map. */
function scalar(text: string): string {
  const plain = stringify(text, { lineWidth: 0 }).trimEnd();
  return /[,[\]{}\n]/.test(plain) && !/^["']/.test(plain) ? JSON.stringify(text) : plain;
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** A new endpoint: events of a table by hour, which a chart can show at once. Without columns it can be replaced by any other query. */
export function newFiles(tables: readonly Table[]): Files {
  const table = tables.find(({ columns }) => columns.some(({ name }) => name === 'project'));
  return {
    definition: `id: ${newId()}
name: my.endpoint
description: Events of a project by hour, over the last day.
max_rows: 1000
caching: disabled
parameters:
  project: { type: string, required: true, description: Reference of the project. }
`,
    sql: `SELECT
  formatDateTime(toStartOfHour(e.timestamp), '%Y-%m-%dT%H:%i:%S') AS timestamp,
  count() AS count
FROM ${table?.name ?? 'edge_logs'} AS e
WHERE e.project = @project
  AND e.timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 1 DAY
GROUP BY timestamp
ORDER BY timestamp
`,
  };
}

/** A random UUID; `crypto.randomUUID` is missing on pages without HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((one) => one.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
