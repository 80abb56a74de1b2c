import type { PathColumn } from '../../definitions/endpoint.ts';
import { writeValue } from '../../sql/sql.ts';
import { reject } from './parse/tree.ts';
import {
  isJson,
  jsonValue,
  type Members,
  SQL_CHARS_MAX,
  type Type,
  typedValue,
  type Value,
} from './value.ts';

/** A view of the stored query, as callers' SELECTs see it. */
export interface DialectView {
  /** Typed columns. Each is NULL if the event has no value of its type at its path. */
  readonly columns: readonly PathColumn[];
  /**
   * A column with the text of the metadata if a typed column does not show what the event has at its path: a value of
   * another type, or a list on the way there. Otherwise it is empty, so that a SELECT over typed columns reads no
   * metadata. Without it, such a SELECT reads the metadata.
   */
  readonly untyped?: string;
  /**
   * Whether a SELECT over typed columns reads the view in another form: one SELECT, without `untyped`, which the engine
   * plans faster.
   */
  readonly hasPlain?: boolean;
}

/** A SELECT of a caller. */
export interface Select {
  readonly sql: string;
  readonly columns: readonly SourceColumn[];
}

/** What a SELECT reads from: a view, a WITH member or a SELECT in brackets. */
export interface Source extends Select {
  /** Given for a view of the stored query. */
  readonly view?: DialectView;
}

export interface SourceColumn {
  /** Its name in the source's SQL: `c0`, `c1` and so on in that of a SELECT. */
  readonly name: string;
  /** As callers name it, in any letter case. */
  readonly label: string;
  readonly type: Type;
  readonly members?: Members | undefined;
}

/** Member names from the event's root; `undefined` if no typed column can have what is below it. */
type Path = readonly string[] | undefined;

/** JSON that steps lead into: a column of a relation, or a record of an UNNEST. */
export interface Origin {
  readonly relation: Relation;
  /** Its JSON text within the relation, never NULL; the first of several that has something at the steps is read. */
  readonly sqls: readonly string[];
  readonly path: Path;
}

/** One member of a FROM, with the records that are unnested from it. */
export type Relation = ReturnType<typeof createRelation>;

/**
 * The column that says whether a row may have a value beside its typed columns, in a caller's tree: no caller can write
 * it.
 */
export const FLAG_LABEL = '\0untyped';
/** The same in the engine's SQL. */
export const FLAG = 'p_untyped';

interface RelationOptions {
  readonly name: string;
  readonly alias: string;
  readonly source: Source;
  readonly isTyped: boolean;
  readonly isOptional: boolean;
}

/**
 * Collects the columns, paths and records that a SELECT uses of a source, and writes the subquery that computes just
 * these, each once.
 *
 * A list of several records gives a row for each, a single record or none gives one row.
 * @param isTyped whether only typed columns and those of every event are read, from a view that has them in one SELECT.
 *   The flag is set for an event that lacks one of these: what the event has there, and whether it is a list, is in its
 *   metadata. Then anything else throws NotUnderstood
 * @param isOptional for the right side of a LEFT JOIN: the engine would fill in a default for a column that has no NULL
 */
export function createRelation({ name, alias, source, isTyped, isOptional }: RelationOptions) {
  const inner = `${alias}s`; // of what the subquery reads; names like those of functions have to be qualified
  const { view } = source;
  const columns = new Map<string, string>(); // by name in the subquery
  const forms = new Map<string, string>(); // computed from these
  const records: { readonly name: string; readonly join: string; readonly path: Path }[] = [];
  const values = new Map<string, Value>();
  let readsAll = false; // whether a path without a typed column is read
  let chars = 0; // of `columns` and `forms`

  const addTo = (list: Map<string, string>, column: string, sql: string) => {
    if (!list.has(column)) chars += sql.length;
    if (chars > SQL_CHARS_MAX) throw reject('is too large: ask in several requests');
    list.set(column, sql);
    return `${alias}.${column}`;
  };
  const addStored = (column: string, isArray = false) => {
    const sql = `${inner}.${column}`;
    // An array cannot be NULL in the engine; the default, an empty one, stands for it.
    return addTo(columns, column, isOptional && !isArray ? `toNullable(${sql})` : sql);
  };

  const readAll = () => {
    readsAll = true;
    if (isTyped) throw reject('reads more than typed columns');
  };
  if (isTyped && view?.untyped !== undefined && view.hasPlain !== true) readAll();

  const relation = {
    name,
    source,
    /** A column as a whole. */
    column(stored: SourceColumn): Value {
      if (isJson(stored)) return { ...relation.value(relation.origin(stored), []), type: stored.type };
      const { name: column, type, members } = stored;
      const sql = addStored(column, type === 'array');
      return { type, sql, members, column: { table: relation, name: column } };
    },
    origin(column: SourceColumn): Origin {
      const isMetadata = view !== undefined && column.type === 'record';
      if (isMetadata) return { relation, sqls: [METADATA], path: [column.name] };
      return { relation, sqls: [`ifNull(${inner}.${column.name}, '')`], path: undefined };
    },
    /** The record of an UNNEST: each member of the list at these steps, or what else is there. */
    unnest(origin: Origin, steps: readonly Step[]): Origin {
      const path = extend(origin.path, steps);
      if (path === undefined || !view?.columns.some(isBelow(path))) readAll();
      const texts = origin.sqls.map((sql) => writeSteps(sql, steps));
      const raw = texts.length > 1 ? firstOf(texts) : texts.join();
      const record = `${alias}e${records.length}`;
      const list = `if(startsWith(${raw}, '['), JSONExtractArrayRaw(${raw}), [${raw}])`;
      records.push({ name: record, join: ` LEFT ARRAY JOIN ${list} AS ${record}`, path });
      return { relation, sqls: [record], path };
    },
    /** Whether a typed column has what is at these steps, or below them. */
    isTyped(origin: Origin, steps: readonly Step[]): boolean {
      const path = extend(origin.path, steps);
      return path !== undefined && view?.columns.some(isAtOrBelow(path)) === true;
    },
    /** What is at these steps. */
    value(origin: Origin, steps: readonly Step[]): Value {
      const key = JSON.stringify([origin.sqls, ...steps]);
      const value = values.get(key) ?? readValue(origin, steps);
      values.set(key, value);
      return value;
    },
    /** The relation in FROM, up to three SELECTs: a row for each record, the columns, what is computed from these. */
    write(): string {
      if (isTyped) columns.set(FLAG, writeFlag());
      const metadata = `${inner}.${(!readsAll && view?.untyped) || 'metadata'}`;
      const fill = (sql: string) => sql.replaceAll(METADATA, metadata);
      const list = fill([...columns].map(([column, sql]) => `${sql} AS ${column}`).join(', '));
      const joins = isTyped ? '' : fill(records.map(({ join }) => join).join(''));
      const unnested = [...readStored(list, inner), ...records.map((record) => record.name)].join(', ');
      const from = joins === '' ? source.sql : `(SELECT ${unnested} FROM ${source.sql} AS ${inner}${joins})`;
      const read = `SELECT ${list || '1 AS one'} FROM ${from} AS ${inner}`;
      if (forms.size === 0) return `(${read}) AS ${alias}`;
      const passed = [...columns.keys()].map((column) => `${alias}.${column} AS ${column}`);
      const computed = [...forms].map(([form, sql]) => `${sql} AS ${form}`);
      return `(SELECT ${[...passed, ...computed].join(', ')} FROM (${read}) AS ${alias}) AS ${alias}`;
    },
  };
  return relation;

  function readValue({ sqls, path: start }: Origin, steps: readonly Step[]): Value {
    const path = extend(start, steps);
    const found =
      path && view?.columns.find((one) => one.path.length === path.length && isAtOrBelow(path)(one));
    const typed = found && { sql: addStored(found.name), type: found.type };
    if (typed === undefined) readAll();
    else if (isTyped) return typedValue(typed);
    const json = firstOf(sqls.map((sql) => writeSteps(sql, steps)));
    const number = `p${values.size}`;
    const raw = addTo(columns, number, found ? `if(isNull(${inner}.${found.name}), ${json}, '')` : json);
    return jsonValue(raw, typed, (form, sql) => addTo(forms, `${number}_${form}`, sql));
  }

  function writeFlag(): string {
    const all = view?.columns ?? [];
    const read = all.filter((column) => columns.has(column.name));
    const typed = withRecords(read, all, records);
    for (const column of typed) addStored(column.name);
    return `(${typed.map((column) => `isNull(${inner}.${column.name})`).join(' OR ') || 'false'})`;
  }
}

/** A typed column that has a value says that no list is on its path, so each record on it is one. */
function withRecords(
  read: readonly PathColumn[],
  all: readonly PathColumn[],
  records: readonly { readonly path: Path }[],
): readonly PathColumn[] {
  const typed = [...read];
  for (const { path = [] } of records)
    if (!typed.some(isBelow(path))) typed.push(...all.filter(isBelow(path)).slice(0, 1));
  return typed;
}

const isAtOrBelow = (record: readonly string[]) => (column: PathColumn) =>
  record.every((step, i) => column.path[i] === step);

const isBelow = (record: readonly string[]) => (column: PathColumn) =>
  record.length < column.path.length && isAtOrBelow(record)(column);

// Stands for the column with the metadata until it is known which one is read. No token of SQL looks like it.
const METADATA = '\u0001';
// Names of members are literals, and may look like columns.
const LITERAL = /'(?:[^'\\]|\\.)*'/gs;

/** The columns of the source that a list uses. */
function readStored(list: string, inner: string): readonly string[] {
  const used = list.replaceAll(LITERAL, '').matchAll(new RegExp(`\\b${inner}\\.(\\w+)`, 'g'));
  return [...new Set([...used].map(([stored, column]) => `${stored} AS ${column}`))];
}

function extend(path: Path, steps: readonly Step[]): Path {
  const names = steps.filter((step) => typeof step === 'string');
  return path === undefined || names.length < steps.length ? undefined : [...path, ...names];
}

/** A step into JSON: a member of an object, or of a list, from 0. */
export type Step = string | number;

/** The JSON text at some steps into a JSON text, empty if there is none. */
export function writeSteps(json: string, steps: readonly Step[]): string {
  const end = steps.findIndex((step) => typeof step === 'number');
  const names = (end < 0 ? steps : steps.slice(0, end)).map((name) => writeValue(String(name)));
  const sql = names.length === 0 ? json : `JSONExtractRaw(${[json, ...names].join(', ')})`;
  if (end < 0) return sql;
  // The engine would take the member of an object by its place.
  const member = `if(startsWith(${sql}, '['), JSONExtractRaw(${sql}, ${Number(steps[end]) + 1}), '')`;
  return writeSteps(member, steps.slice(end + 1));
}

/** The first of JSON texts that is neither empty nor null; empty if there is none. */
export function firstOf(texts: readonly string[]): string {
  const [text, ...others] = texts;
  if (others.length === 0) return `ifNull(nullIf(${text}, 'null'), '')`;
  return `coalesce(${texts.map((one) => `nullIf(nullIf(${one}, 'null'), '')`).join(', ')}, '')`;
}
