import type { Level } from '../../definitions/level.ts';
import type { Source, SourceColumn } from '../../definitions/source.ts';
import { writeValue } from '../../sql/quote.ts';
import { findColumn, KINDS, type Operand, pathOf } from '../field.ts';
import type { SearchField } from '../tree.ts';
import { writeIsOfLevel, writeLevel } from './level.ts';

/** A field of one source's events as a person writes it. */
export type Named =
  | Exclude<Operand, { kind: 'level' }>
  | { readonly kind: 'level'; readonly sql: string; readonly isOf: (levels: readonly Level[]) => string };

/** The fields of one source in a SELECT of its table, and what the SELECT reads. */
export interface Names {
  readonly source: Source;
  find(field: SearchField): Named;
  /** Writes a column by its name. */
  column(name: string): string;
  /** Paths from the root of the event that were read, each as JSON. */
  readonly read: ReadonlySet<string>;
}

/**
 * @param aliases names of the SELECT's results: columns with these names are written with their table, since the engine
 *   would read the results
 */
export function createNames(source: Source, aliases: ReadonlySet<string>): Names {
  const read = new Set<string>();

  function column(name: string): string {
    noteRead(source, name, read);
    const quoted = quoteName(name);
    return aliases.has(name) ? `${quoteName(source.table)}.${quoted}` : quoted;
  }

  function findOfRow(name: string): Named | undefined {
    if (name === 'source') return { kind: 'constant', sql: writeValue(source.name), text: source.name };
    if (name === 'timestamp') return { kind: 'time', sql: column(name) };
    if (name === 'level') {
      const { level } = source;
      return {
        kind: 'level',
        get sql() {
          return writeLevel(level, column);
        },
        isOf: (levels) => writeIsOfLevel(levels, level, column),
      };
    }
    return TEXTS.has(name) ? { kind: 'text', sql: column(name) } : undefined;
  }

  return {
    source,
    read,
    column,
    find(field) {
      const ofRow = field.length === 1 ? findOfRow(field[0]) : undefined;
      if (ofRow !== undefined) return ofRow;
      const typed = findColumn(source, field);
      if (typed !== undefined) return { kind: KINDS[typed.type], sql: column(typed.name) };
      const path = pathOf(field);
      read.add(JSON.stringify(['metadata', ...path]));
      const at = ['metadata', ...path.map(writeValue)].join(', ');
      return { kind: 'json', sql: `JSONExtract(${at}, 'Nullable(String)')` };
    },
  };
}

const TEXTS: ReadonlySet<string> = new Set(['id', 'project', 'event_message', 'metadata']);

/** Notes what an event needs to have so that a column has its value. */
function noteRead(source: Source, name: string, read: Set<string>): void {
  if (name === 'event_message' || name === 'metadata') read.add(JSON.stringify([name]));
  const typed = source.columns.find((one) => one.name === name);
  if (typed === undefined) return;
  for (const path of pathsOf(typed)) read.add(JSON.stringify(path));
  for (const other of [typed.contains?.column, ...(typed.otherwise ?? [])])
    if (other !== undefined && other !== name) noteRead(source, other, read);
}

const pathsOf = ({ path, otherPaths }: SourceColumn) => [path, ...otherPaths].filter((one) => one.length > 0);

// Names of columns have only small letters, digits and _; these mean something else in SQL.
const WORDS: ReadonlySet<string> = new Set(
  (
    'all and any array as asc between by case cast desc distinct div else end escape except ' +
    'exists extract false final from full ' +
    'global group having ilike in inner intersect interval into is join left like limit mod not ' +
    'null offset on or order outer ' +
    'prewhere qualify right sample select settings table then true union using values when where window with'
  ).split(' '),
);

/** Writes the name of a column or a table. */
export function quoteName(name: string): string {
  return WORDS.has(name) ? `\`${name}\`` : name;
}
