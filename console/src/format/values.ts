/** Values of parameters, by name. */
export type Values = Readonly<Record<string, string>>;

type Parameters = Readonly<Record<string, string | undefined>>;

/** The query string of the parameters that have a value, without `?`. */
export function toQuery(parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return new URLSearchParams(given).toString();
}

export function withQuery(path: string, parameters: Parameters): string {
  const query = toQuery(parameters);
  return query === '' ? path : `${path}?${query}`;
}

/** A member of a record whose names come from data: `undefined` for `__proto__` and others that every object inherits. */
export function ownMember<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Quotes for a shell, which leaves everything within single quotes as it is. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
