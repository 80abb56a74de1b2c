import { parseInstant } from '../../lib/instant.ts';
import type { Bounds } from './bounds.ts';
import { formatTime } from './cast.ts';
import { SQL_CHARS_MAX } from './convert.ts';
import { parse } from './parse/parse.ts';
import { refuse } from './parse/refusal.ts';
import type { Quotes } from './parse/token.ts';
import { translateQuery } from './query.ts';
import type { DialectView } from './relation.ts';
import type { Type } from './value.ts';

export interface TranslateOptions {
  /** The views of the stored query, by name. */
  readonly views: ReadonlyMap<string, DialectView>;
  /** The instant of the query: that of `@now`. */
  readonly now: string;
  /** How texts in single quotes are read; `bigquery` if it is not given. */
  readonly quotes?: Quotes;
}

export interface Translation {
  /** A ClickHouse SELECT over the views. The sandbox checks it as it does any other: this is not a boundary. */
  readonly sql: string;
  /** The columns of the answer in order, with the BigQuery type by which each is written. */
  readonly columns: readonly TranslatedColumn[];
  /** Bounds that hold for every row that is read of any table, for the parameters of the views. */
  readonly bounds: Bounds;
}

/**
 * A column of the answer. A `timestamp` is microseconds since 1970, a `datetime` and a `string` are texts, `json` and `record` are JSON
 * text that has to stand in the answer as it is, NULL for a missing field.
 */
export interface TranslatedColumn {
  readonly name: string;
  readonly type: Exclude<Type, 'null' | 'date' | 'array'>;
}

/**
 * Translates a caller's BigQuery SELECT to ClickHouse (spec: query sandboxing, with another dialect). What is not understood is rejected
 * by name and place; docs/studio-sql.md lists what is understood.
 *
 * @throws TailraceError `invalid_parameter`
 */
export function translateBigQuery(
  sql: string,
  { views, now, quotes = 'bigquery' }: TranslateOptions,
): Translation {
  const instant = parseInstant(now);
  if (instant === undefined) throw new RangeError(`${now} is not an instant`);
  const query = translateQuery({ ...parse(sql.toWellFormed(), quotes), views, now: instant });
  const list = query.columns.map(({ label, type }, i) => `${writeOutput(`c${i}`, type)} AS \`${label}\``);
  const withs = query.withs.length === 0 ? '' : `WITH ${query.withs.join(', ')} `;
  const translated = `${withs}SELECT ${list.join(', ')} FROM (${query.sql})`;
  if (translated.length > SQL_CHARS_MAX) throw refuse('is too large: ask in several requests');
  const columns = query.columns.map(({ label, type }) => ({ name: label, type: outputType(type) }));
  return { sql: translated, columns, bounds: query.bounds };
}

function outputType(type: Type): TranslatedColumn['type'] {
  return type === 'null' || type === 'date' || type === 'array' ? 'string' : type; // arrays have been rejected
}

function writeOutput(column: string, type: Type): string {
  if (type === 'timestamp') return `toUnixTimestamp64Micro(${column})`;
  if (type === 'datetime') return formatTime(column, 'T');
  if (type === 'bool') return `toBool(${column})`;
  return type === 'date' ? `toString(${column})` : column;
}
