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

/** Returns the content of a typed column: the value if the type fits, else null. src/engine/table.ts states the same rule in SQL. */
export function typedValue(value: unknown, type: ColumnType): unknown {
  return ACCEPTS[type](value) ? value : null;
}

/** Returns the value of the first of the column's paths that has one of its type. */
function findTyped(event: Record<string, unknown>, { path, otherPaths, type }: SourceColumn): unknown {
  let value = typedValue(findValue(event, path), type);
  for (let i = 0; value === null && i < otherPaths.length; i++)
    value = typedValue(findValue(event, otherPaths[i] ?? []), type);
  return value;
}

/** Returns the values of an event's typed columns, in their order. */
export function typedValues(
  event: Record<string, unknown>,
  project: string,
  columns: readonly SourceColumn[],
): unknown[] {
  const values = columns.map((column) => findTyped(event, column));
  for (const [i, { otherwise }] of columns.entries()) {
    if (otherwise === undefined || values[i] !== null) continue;
    const standIn = (name: string) =>
      name === 'project' ? project : values[columns.findIndex((column) => column.name === name)];
    values[i] = otherwise.map((name) => standIn(name) ?? '').join('');
  }
  for (const [i, { contains }] of columns.entries()) {
    if (contains === undefined) continue;
    const text = String(values[columns.findIndex(({ name }) => name === contains.column)] ?? '');
    values[i] = text.toWellFormed().includes((contains.text ?? project).toWellFormed());
  }
  return values;
}
