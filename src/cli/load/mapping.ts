import { InputError } from '../../errors.ts';
import { identifier, join, type Sql, sql } from '../../sql/sql.ts';

/** A column of a file, as the engine describes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** Which column becomes which field of an event, by the field's path. */
export type Mapping = ReadonlyMap<string, string>;

// A column of such a name becomes that field of the event if nothing else is said; all others become metadata.
const FIELDS = ['id', 'timestamp', 'project', 'event_message', 'message', 'metadata'];
const FIELD = /^(id|timestamp|project|event_message|metadata(\.[^.]+)*)$/;
const TEXT_NUMBER = '^(-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?|true|false)$';

/**
 * Reads `--map timestamp=created_at --map metadata.request.path=url`.
 *
 * @throws InputError with each that is not of this form, or that names a field twice
 */
export function parseMapping(texts: readonly string[]): Mapping {
  const mapping = new Map<string, string>();
  const faults = texts.flatMap((text) => {
    const [, field = '', column = ''] = /^([^=]*)=(.+)$/.exec(text) ?? [];
    if (!FIELD.test(field))
      return [
        `--map ${text}: write <field>=<column>; the fields are id, timestamp, project, ` +
          'event_message, metadata and metadata.<name>',
      ];
    if (mapping.has(field)) return [`--map ${text}: ${field} is mapped twice`];
    mapping.set(field, column);
    return [];
  });
  if (faults.length > 0) throw new InputError(faults);
  return mapping;
}

interface SelectOptions {
  readonly mapping: Mapping;
  /** Whether every value is a text, as in CSV: those that look like numbers, true or false become such. */
  readonly isText: boolean;
}

/** A field of an event: its value, or its members. */
type Node = { readonly value: Sql } | Map<string, Node>;

/**
 * Writes the expression of an event's JSON, on one line, from the columns of a file.
 *
 * @throws InputError if the mapping names a column that the file lacks, or that cannot be named in SQL
 */
export function writeEvent(columns: readonly Column[], { mapping, isText }: SelectOptions): Sql {
  const used = new Set(mapping.values());
  const missing = [...used].filter((name) => columns.every((column) => column.name !== name));
  if (missing.length > 0) {
    const names = columns.map(({ name }) => name).join(', ');
    throw new InputError(
      missing.map((name) => `--map: the file has no column ${JSON.stringify(name)}; it has ${names}`),
    );
  }
  const root = new Map<string, Node>();
  const hasMetadata =
    mapping.has('metadata') || columns.some(({ name }) => name === 'metadata' && !used.has(name));
  for (const column of columns)
    for (const path of pathsOf(column, mapping, hasMetadata))
      place(root, path, writeColumn(column, path.join('.') === 'metadata', isText));
  return writeNode(root);
}

/** Returns where a column goes: where it is mapped to, else to the field of its name, else into the metadata. */
function pathsOf({ name }: Column, mapping: Mapping, hasMetadata: boolean): string[][] {
  const fields = [...mapping].filter(([, from]) => from === name).map(([field]) => field.split('.'));
  if (fields.length > 0) return fields;
  const isFree = !mapping.has(name === 'message' ? 'event_message' : name);
  if (hasMetadata || (FIELDS.includes(name) && isFree)) return [[name]];
  return [['metadata', name]];
}

function place(root: Map<string, Node>, path: readonly string[], value: Sql): void {
  let at = root;
  for (const name of path.slice(0, -1)) {
    const next = at.get(name) ?? new Map<string, Node>();
    if (!(next instanceof Map))
      throw new InputError([`--map ${path.join('.')}: a column is ${name} already`]);
    at.set(name, next);
    at = next;
  }
  const last = path.at(-1) ?? '';
  if (at.get(last) instanceof Map)
    throw new InputError([`--map ${path.join('.')}: columns are mapped into it, too`]);
  at.set(last, { value });
}

/** @param isJson whether a text that is JSON stands for its value, as metadata does in exports of Tailrace */
function writeColumn({ name, type }: Column, isJson: boolean, isText: boolean): Sql {
  const column = nameColumn(name);
  const json = sql`ifNull(toJSONString(${column}), 'null')`;
  if (!/String/.test(type) || /^(Array|Map|Tuple)/.test(type)) return json;
  // `toString` of a null is null, which no condition holds for.
  const text = sql`toString(${column})`;
  if (isJson)
    return sql`if(isValidJSON(${text}), ifNull(replaceRegexpAll(${text}, '[\\r\\n]', ' '), 'null'), ${json})`;
  if (!isText) return json;
  return sql`multiIf(match(${text}, ${TEXT_NUMBER}), ${text}, ${text} = '', 'null', ${json})`;
}

function nameColumn(name: string): Sql {
  try {
    return identifier(name);
  } catch (error) {
    throw new InputError(
      [`the column ${JSON.stringify(name)} cannot be read: its name has a backquote or a backslash`],
      { cause: error },
    );
  }
}

function writeNode(node: Map<string, Node>): Sql {
  const members = [...node].map(([name, child], i) => {
    const value = child instanceof Map ? writeNode(child) : child.value;
    return sql`${`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`}, ${value}`;
  });
  return members.length === 0 ? sql`'{}'` : sql`concat(${join(members, ', ')}, '}')`;
}
