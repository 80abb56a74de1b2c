import type { ColumnType } from '../definitions/source.ts';

/** The value at a path of a parsed event; `undefined` where there is none. Only objects are walked, by own members. */
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

/** What a typed column holds of a value: the value where the type fits, else null. src/engine/table.ts has its twin in SQL. */
export function typedValue(value: unknown, type: ColumnType): unknown {
  return ACCEPTS[type](value) ? value : null;
}
