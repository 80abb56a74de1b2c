/**
 * A member of a record whose names come from data: `undefined` for `constructor`, `__proto__` and other names that every object
 * inherits.
 */
export function ownMember<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
