import type { ColumnType, SourceColumn } from '../definitions/source.ts';

/** Returns the value at a path of a parsed event; `undefined` if there is none. Walks objects only, by their own members. */
export function findValue(event: unknown, path: readonly string[]): unknown {
  let value = event;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
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
 * rule in SQL.
 */
export function typedValue(value: unknown, type: ColumnType): unknown {
  return ACCEPTS[type](value) ? value : null;
}

/** Returns the value of an event at one of its source's paths; see `findValue`. */
export type ReadPath = (path: readonly string[]) => unknown;

/** Returns the value of the first of the column's paths that has one of its type. */
function findTyped(read: ReadPath, { path, otherPaths, type }: SourceColumn): unknown {
  let value = typedValue(read(path), type);
  for (let i = 0; value === null && i < otherPaths.length; i++)
    value = typedValue(read(otherPaths[i] ?? []), type);
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
