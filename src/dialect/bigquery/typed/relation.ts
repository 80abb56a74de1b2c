import type { DialectColumn, Origin, Relation, Source } from '../relation.ts';
import { extend, findTyped, isTypedAt, typedSql } from '../relation.ts';
import type { Step } from '../steps.ts';
import { typedValue } from '../value.ts';

/** Reports that a SELECT reads more than typed columns. */
export class NotTyped extends Error {
  override readonly name = 'NotTyped';
}

/** The column that says whether a row may have a value beside its typed columns, in a caller's tree: no caller can write it. */
export const FLAG_LABEL = '\0untyped';
// The same in the engine's SQL.
const FLAG = 'p_untyped';

/**
 * A relation of which only typed columns and those of every event are read, from a view that has them in one SELECT. Its flag is set
 * for an event that lacks one of these: what the event has there, and whether it is a list, is in its metadata.
 *
 * @throws NotTyped if the source has no such view
 */
export function createTypedRelation(name: string, alias: string, source: Source): Relation {
  const { view } = source;
  if (view === undefined || (view.untyped !== undefined && view.hasPlain !== true)) throw new NotTyped();
  const inner = `${alias}s`;
  const read = new Set<string>();
  const typed = new Set<DialectColumn>();
  const records: (readonly string[])[] = [];
  const findAt = ({ path }: Origin, steps: readonly Step[]) => findTyped(view, extend(path, steps));
  const columns = new Map(source.columns).set(FLAG_LABEL, { name: FLAG, label: FLAG_LABEL, type: 'bool' });
  const relation: Relation = {
    name,
    source: { ...source, columns },
    column({ name: column, type, members }) {
      if (column !== FLAG) read.add(column);
      return { type, sql: `${alias}.${column}`, members, column: { table: relation, name: column } };
    },
    origin: (column) => ({ relation, sql: column.name, path: [column.name] }),
    unnest(origin, steps, others = []) {
      const path = others.length > 0 ? undefined : extend(origin.path, steps);
      if (path === undefined) throw new NotTyped();
      records.push(path);
      return { relation, sql: path.join('\0'), path };
    },
    isTyped: ({ path }, steps) => isTypedAt(view, extend(path, steps)),
    value(origin, steps, others = []) {
      const column = others.length > 0 ? undefined : findAt(origin, steps);
      if (column === undefined) throw new NotTyped();
      typed.add(column);
      return typedValue(typedSql(`${alias}.${column.name}`, column));
    },
    setOptional() {
      throw new NotTyped();
    },
    write() {
      for (const record of records) if (!hasBelow(typed, record)) typed.add(getBelow(view.columns, record));
      const names = [...typed].map((column) => column.name);
      const flag = names.map((column) => `isNull(${inner}.${column})`).join(' OR ') || 'false';
      const list = [...new Set([...read, ...names])].map((column) => `${inner}.${column} AS ${column}`);
      return `(SELECT ${[...list, `(${flag}) AS ${FLAG}`].join(', ')} FROM ${source.sql} AS ${inner}) AS ${alias}`;
    },
  };
  return relation;
}

// A typed column that has a value says that no list is on its path, so each record on it is one.
const isBelow = (record: readonly string[]) => (column: DialectColumn) =>
  record.length < column.path.length && record.every((step, i) => column.path[i] === step);

function hasBelow(columns: Iterable<DialectColumn>, record: readonly string[]): boolean {
  return [...columns].some(isBelow(record));
}

function getBelow(columns: readonly DialectColumn[], record: readonly string[]): DialectColumn {
  const column = columns.find(isBelow(record));
  if (column === undefined) throw new NotTyped();
  return column;
}
