import { LEVELS, type Level } from '../definitions/level.ts';
import type { Source, SourceColumn } from '../definitions/source.ts';
import { remember } from '../lib/remember.ts';
import { writeValue } from '../sql/quote.ts';
import { writeIsOfLevel, writeLevelRank } from './level.ts';
import { NUMBER_MEMBERS } from './number.ts';
import { printField, type SearchField } from './tree.ts';

/** A field of one source's events in SQL. Expressions without a value are NULL. */
export type Operand =
  | { readonly kind: 'text' | 'json' | 'integer' | 'number' | 'boolean' | 'time'; readonly sql: string }
  | LevelOperand
  /** The same for all events of the source. */
  | { readonly kind: 'constant'; readonly sql: string; readonly text: string };

interface LevelOperand {
  readonly kind: 'level';
  /** Writes its rank (search/level.ts), whose texts the engine parses for each source: only if a condition needs it. */
  readonly writeRank: () => string;
  readonly isOf: (levels: readonly Level[]) => string;
}

/** The fields of one source as a statement uses them. */
export interface Fields {
  find(field: SearchField): Operand;
  /** SQL of a text if it has the form of a number (search/number.ts). */
  findForm(sql: string): string;
  /** Adds a member of the WITH, and returns its name. */
  define(name: string, expression: string): string;
  /** `expression AS name` of each field that is not a column, for the WITH of the source's SELECT. */
  definitions(): readonly string[];
}

// Names of no column, since columns have no capital letters. One letter each: an alias is repeated for each term of
// each source.
/** The alias of the source's table within its SELECT. Names without it could be resolved as those of results. */
export const TABLE = 'T';
const LEVEL = 'L';
const JSON_PREFIX = 'J';
const TEXT_PREFIX = 'X';
const FORM_PREFIX = 'N';

export const column = (name: string) => `${TABLE}.\`${name}\``;

/**
 * Finds fields by the names of a row; else by the typed column of the path, if there is one; else in the JSON of the
 * metadata.
 */
export function createFields(source: Source): Fields {
  const definitions = new Map<string, string>();
  const found = new Map<string, Operand>();
  const forms = new Map<string, string>();

  function define(name: string, expression: string): string {
    definitions.set(name, expression);
    return name;
  }

  /**
   * Writes the text of the JSON value at a path: of anything but a text, its JSON. The metadata is parsed once for each
   * path.
   */
  function extract(path: SearchField): Operand {
    const nth = definitions.size;
    const raw = define(JSON_PREFIX + nth, writeExtract(path));
    define(TEXT_PREFIX, READ_JSON);
    return { kind: 'json', sql: define(TEXT_PREFIX + nth, `${TEXT_PREFIX}(${raw})`) };
  }

  function findForm(sql: string): string {
    const name = forms.get(sql) ?? `${FORM_PREFIX}${forms.size}`;
    forms.set(sql, name);
    for (const [member, expression] of Object.entries(NUMBER_MEMBERS)) define(member, expression);
    return define(name, `N(${sql})`);
  }

  function findOfRow(name: string): Operand | undefined {
    if (name === 'source') return { kind: 'constant', sql: writeValue(source.name), text: source.name };
    if (name === 'timestamp') return { kind: 'time', sql: column(name) };
    if (name === 'level') return findLevel();
    return TEXTS.includes(name) ? { kind: 'text', sql: column(name) } : undefined;
  }

  function findLevel(): LevelOperand {
    const rule = source.level;
    const writeRank = () => define(LEVEL, writeLevelRank(rule, column));
    return {
      kind: 'level',
      writeRank,
      isOf: (levels) => writeIsOfLevel(levels, { rule, writeRank, column }),
    };
  }

  function create(field: SearchField): Operand {
    const ofRow = field.length === 1 ? findOfRow(field[0]) : undefined;
    if (ofRow !== undefined) return ofRow;
    const typed = findColumn(source, field);
    if (typed === undefined) return extract(pathOf(field));
    return { kind: KINDS[typed.type], sql: column(typed.name) };
  }

  return {
    find(field) {
      const name = printField(field);
      const operand = found.get(name) ?? create(field);
      found.set(name, operand);
      return operand;
    },
    findForm,
    define,
    definitions: () => [...definitions].map(([name, expression]) => `${expression} AS ${name}`),
  };
}

/** Returns the text of a value from its JSON; NULL for null. */
export const READ_JSON = `j -> if(startsWith(j, '"'), JSONExtractString(j), nullIf(nullIf(j, ''), 'null'))`;
const writeExtract = remember(
  (path: SearchField) => `JSONExtractRaw(${[column('metadata'), ...path.map(writeValue)].join(', ')})`,
);

/** Returns a field in the metadata. */
export function pathOf(field: SearchField): SearchField {
  if (field[0] !== 'metadata') return field;
  const [, second, ...others] = field;
  return second === undefined ? field : [second, ...others];
}

/** Finds the typed column that a field is read from, unless it is one of a row. */
export function findColumn({ columns }: Source, field: SearchField): SourceColumn | undefined {
  const path = pathOf(field);
  return columns.find((one) => isAt(one, path));
}

/** Whether a field is one of a row. */
export function isRowField(field: SearchField): boolean {
  return field.length === 1 && Object.hasOwn(ROW_FIELDS, field[0]);
}

/** Whether a field is one of a row or a typed column; any other is read from the JSON of the metadata. */
export function isDeclared(source: Source, field: SearchField): boolean {
  return isRowField(field) || findColumn(source, field) !== undefined;
}

const TEXTS = ['id', 'project', 'event_message', 'metadata'];

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
    const { type, otherwise, description } = column;
    if (pathInMetadata(column) !== undefined && otherwise !== undefined) continue;
    const name = nameColumn(column);
    if (!declared.has(name))
      declared.set(name, { name, type: type === 'keyword' ? 'string' : type, description });
  }
  return [...declared.values()];
}

/** Returns how a search names a typed column: by its path, or by its own name if it has none, or several. */
export function nameColumn(column: SourceColumn): string {
  const [head = column.name, ...others] = pathInMetadata(column) ?? [];
  const printed = printField([head, ...others]);
  const isOfRow = head === 'metadata' || Object.hasOwn(ROW_FIELDS, printed);
  return isOfRow ? `metadata.${printed}` : printed;
}

/**
 * Whether a column has exactly the value at a path of the metadata; one without such a path, or with several, has its
 * own name.
 */
function isAt(column: SourceColumn, field: SearchField): boolean {
  const { name, otherwise } = column;
  const path = pathInMetadata(column);
  if (path === undefined) return field.length === 1 && field[0] === name;
  if (otherwise !== undefined || path.length !== field.length) return false;
  return path.every((member, i) => member === field[i]);
}

/** Member names within the metadata; `undefined` for a column of another place, or of several. */
function pathInMetadata({ path: [first, ...rest], otherPaths }: SourceColumn): readonly string[] | undefined {
  return first === 'metadata' && otherPaths.length === 0 ? rest : undefined;
}

/** The kind of a typed column's values. */
export const KINDS = {
  string: 'text',
  keyword: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
} as const;
