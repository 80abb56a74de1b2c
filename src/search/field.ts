import { LEVELS, type Level } from '../definitions/level.ts';
import type { Source, SourceColumn } from '../definitions/source.ts';
import { remember } from '../lib/single-flight.ts';
import { guardLike, guardPattern } from '../sql/search-guard.ts';
import { writeValue } from '../sql/sql.ts';
import {
  LEVEL_RANKS,
  type LevelForm,
  type NumberSql,
  writeDecimal,
  writeDouble,
  writeForm,
  writeIsOfLevel,
  writeLevel,
} from './comparison.ts';
import { printField, type SearchClause, type SearchField } from './parse.ts';

/** A field of one source's events in SQL. Expressions without a value are NULL. */
export type Operand =
  | { readonly kind: 'text' | 'json' | 'integer' | 'number' | 'boolean' | 'time'; readonly sql: string }
  | {
      readonly kind: 'level';
      /** Writes it in the form of the statement: only if a condition needs it, since its texts take time to analyse. */
      readonly write: () => string;
      readonly none: LevelForm['none'];
      readonly isOf: (levels: readonly Level[]) => string;
    }
  /** The same for all events of the source. */
  | { readonly kind: 'constant'; readonly sql: string; readonly text: string };

/** The fields of one source as a statement uses them. */
export interface Fields {
  find(field: SearchField): Operand;
  column(name: string): string;
  /** SQL of the number that a text may be. */
  number(text: string): NumberSql;
  /** Writes the pattern of a LIKE. */
  like(pattern: string): string;
  /** Writes the pattern of a `match`. */
  match(pattern: string): string;
  /** The parameter that has the value of a clause, with its `@`; `undefined` if the SQL has the value itself. */
  findParameter?(clause: SearchClause): string | undefined;
}

/** What differs between the statements of searches and those of drafts. */
interface FieldWriters {
  readonly column: (name: string) => string;
  /** Writes the text of the JSON value at a path of the metadata: of anything but a text, its JSON. */
  readonly extract: (path: SearchField) => string;
  readonly level: () => string;
  readonly levelForm: LevelForm;
}

/** Creates the operand of a field: one of a row, else the typed column of its path, else JSON of the metadata. */
export function createOperand(source: Source, field: SearchField, writers: FieldWriters): Operand {
  const { column, extract, level: write, levelForm: form } = writers;
  const [name] = field;
  if (isRowField(field)) {
    if (name === 'source') return { kind: 'constant', sql: writeValue(source.name), text: source.name };
    if (name === 'timestamp') return { kind: 'time', sql: column(name) };
    if (name !== 'level') return { kind: 'text', sql: column(name) };
    const isOf = (levels: readonly Level[]) => writeIsOfLevel(levels, source.level, { column, form, write });
    return { kind: 'level', write, none: form.none, isOf };
  }
  const typed = findColumn(source, field);
  if (typed === undefined) return { kind: 'json', sql: extract(pathOf(field)) };
  return { kind: KINDS[typed.type], sql: column(typed.name) };
}

/** The fields of one source in the statement of a search. */
export interface SearchFields extends Fields {
  /** Adds a member of the WITH, and returns its name. */
  define(name: string, expression: string): string;
  /** `expression AS name` of each field that is not a column, for the WITH of the source's SELECT. */
  definitions(): readonly string[];
}

// The table and the members of the WITH have names of no column, since columns have no capital letters. One letter each:
// an alias is repeated for each term of each source.
/** The alias of the source's table within its SELECT. Names without it could be resolved as those of results. */
export const TABLE = 'T';
// Members of WITH for numbers: an expression for each term of each source would exceed the engine's bound on syntax
// trees.
const NUMBER_MEMBERS = {
  N: `x -> ${writeForm('x')}`,
  D: `n -> ${writeDecimal('n')}`,
  F: `n -> ${writeDouble('n')}`,
};

export const column = (name: string) => `${TABLE}.\`${name}\``;
/** The JSON of an event's fields: its metadata; without one, the members that stood in its place. */
export const METADATA = writeMetadata(column('metadata'), column('attributes'));
export function writeMetadata(metadata: string, attributes: string): string {
  return `if(${metadata} = '', ${attributes}, ${metadata})`;
}

export function createFields(source: Source): SearchFields {
  const definitions = new Map<string, string>();
  const found = new Map<string, Operand>();
  const forms = new Map<string, string>();

  function define(name: string, expression: string): string {
    definitions.set(name, expression);
    return name;
  }

  const writers: FieldWriters = {
    column: (name) => (name === 'metadata' ? METADATA : column(name)),
    // The metadata is parsed once for each path.
    extract(path) {
      const nth = definitions.size;
      const raw = define(`J${nth}`, writeExtract(path));
      define('X', READ_JSON);
      return define(`X${nth}`, `X(${raw})`);
    },
    level: () => define('L', writeLevel(source.level, column, LEVEL_RANKS)),
    levelForm: LEVEL_RANKS,
  };

  return {
    find(field) {
      const name = printField(field);
      const operand = found.get(name) ?? createOperand(source, field, writers);
      found.set(name, operand);
      return operand;
    },
    column,
    number(text) {
      const name = forms.get(text) ?? `N${forms.size}`;
      forms.set(text, name);
      for (const [member, expression] of Object.entries(NUMBER_MEMBERS)) define(member, expression);
      define(name, `N(${text})`);
      return { exact: `D(${name})`, double: `F(${name})` };
    },
    like: guardLike,
    match: guardPattern,
    define,
    definitions: () => [...definitions].map(([name, expression]) => `${expression} AS ${name}`),
  };
}

/** Returns the text of a value from its JSON; NULL for null. */
export const READ_JSON = `j -> if(startsWith(j, '"'), JSONExtractString(j), nullIf(nullIf(j, ''), 'null'))`;
// An `if` around the calls, not in one: it would copy all metadata.
const writeExtract = remember((path: SearchField) => {
  const [metadata, attributes] = ['metadata', 'attributes'].map(
    (name) => `JSONExtractRaw(${[column(name), ...path.map(writeValue)].join(', ')})`,
  );
  return `if(${column('metadata')} = '', ${attributes}, ${metadata})`;
});

/** Returns a field in the metadata. */
export function pathOf(field: SearchField): SearchField {
  if (field[0] !== 'metadata') return field;
  const [, second, ...others] = field;
  return second === undefined ? field : [second, ...others];
}

/** Finds the typed column that a field is read from, unless it is one of a row. */
export function findColumn({ columns }: Source, field: SearchField): SourceColumn | undefined {
  const name = printField(pathOf(field));
  return columns.find((one) => isSearched(one) && nameInMetadata(one) === name);
}

/** Whether a field is one of a row. */
export function isRowField(field: SearchField): boolean {
  return field.length === 1 && Object.hasOwn(ROW_FIELDS, field[0]);
}

/** Whether a field is one of a row or a typed column; any other is read from the JSON of the metadata. */
export function isDeclared(source: Source, field: SearchField): boolean {
  return isRowField(field) || findColumn(source, field) !== undefined;
}

export const ROW_FIELDS = {
  event_message: ['string', 'Message of the event; words without a field are searched for in it.'],
  id: ['string', 'Identifier of the event.'],
  level: ['level', `One of ${LEVELS.join(', ')}.`],
  metadata: ['json', 'Attributes of the event, as JSON text.'],
  project: ['string', 'Project of the event.'],
  source: ['string', 'Name of the source.'],
  timestamp: ['timestamp', 'Time of the event, ISO 8601.'],
} as const;

/** A field as a search names it, and the type of its values. */
export interface DeclaredField {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'level' | 'timestamp';
  readonly description: string;
}

/** Lists the fields of a row, then the typed columns; a column that no search can read from is left out. */
export function listFields({ columns }: Source): DeclaredField[] {
  const declared = new Map<string, DeclaredField>();
  for (const [name, [type, description]] of Object.entries(ROW_FIELDS))
    declared.set(name, { name, type, description });
  for (const column of columns) {
    const { type, description } = column;
    if (!isSearched(column)) continue;
    const name = printField(fieldOf(column));
    if (!declared.has(name))
      declared.set(name, { name, type: type === 'keyword' ? 'string' : type, description });
  }
  return [...declared.values()];
}

/** Returns how a search names a typed column: by its path, or by its own name if it has none, or several. */
export function fieldOf(column: SourceColumn): SearchField {
  const field = pathInMetadata(column) ?? ([column.name] as const);
  return field[0] === 'metadata' || isRowField(field) ? ['metadata', ...field] : field;
}

const nameInMetadata = remember((column: SourceColumn) => printField(pathOf(fieldOf(column))));

/** Whether a search can read a column: one of a path has to have exactly the value there. */
function isSearched(column: SourceColumn): boolean {
  return column.otherwise === undefined || pathInMetadata(column) === undefined;
}

/** Member names within the metadata; `undefined` for a column of another place, or of several. */
function pathInMetadata({ path, otherPaths }: SourceColumn): SearchField | undefined {
  const [first, head, ...others] = path;
  return first === 'metadata' && head !== undefined && otherPaths.length === 0
    ? [head, ...others]
    : undefined;
}

/** The kind of a typed column's values. */
export const KINDS = {
  string: 'text',
  keyword: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
} as const;
