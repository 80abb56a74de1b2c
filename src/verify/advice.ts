import type { Source } from '../definitions/source.ts';
import { describeNearest } from '../lib/nearest.ts';
import { applyEdits } from '../sql/edit.ts';
import { parseSql } from '../sql/parse.ts';

/** A query that the engine has rejected, and the sources that its author may read. */
interface Refused {
  readonly sql: string;
  readonly sources: readonly Pick<Source, 'name' | 'table'>[];
}

/**
 * Suggests what the author of a query probably meant, for faults whose message names neither the cause nor the cure: a
 * source instead of its table, another syntax for parameters, a path of the metadata as a column. `undefined` if there
 * is nothing to add.
 *
 * @param message of the engine, with the name of its error
 */
export function findAdvice(message: string, { sql, sources }: Refused): string | undefined {
  const isOfName = /UNKNOWN_TABLE|UNKNOWN_DATABASE/.test(message);
  const isOfSyntax = /SYNTAX_ERROR|UNKNOWN_QUERY_PARAMETER|Syntax error/.test(message);
  if (!isOfName && !isOfSyntax) return adviseColumn(message);
  const text = withoutTexts(sql);
  return adviseSource(text, sources) ?? (isOfName ? adviseTable(text, sources) : adviseParameter(text));
}

/** Advises on the name of a source instead of its table. */
export function describeSourceName(name: string, sources: Refused['sources']): string | undefined {
  const source = sources.find((one) => one.name === name && one.table !== name);
  return source && `${name} is a source; its table is ${source.table}: write FROM ${source.table}`;
}

// Names of sources may have dashes, which SQL reads as a difference.
const TABLE_PLACE = /\b(?:from|join)\s+[`"]?([A-Za-z_][\w.-]*)/gi;

function tablesIn(text: string): string[] {
  return [...text.matchAll(TABLE_PLACE)].map(([, name = '']) => name);
}

function adviseSource(text: string, sources: Refused['sources']): string | undefined {
  return tablesIn(text)
    .map((name) => describeSourceName(name, sources))
    .find((advice) => advice !== undefined);
}

function adviseTable(text: string, sources: Refused['sources']): string | undefined {
  const tables = sources.map(({ table }) => table);
  const views = new Set([...text.matchAll(/\b(\w+)\s+as\s*\(/gi)].map(([, name]) => name));
  const unknown = tablesIn(text).find((name) => !tables.includes(name) && !views.has(name));
  if (unknown === undefined || tables.length === 0) return undefined;
  return `there is no table ${unknown}${describeNearest(unknown, tables) || ';'} tables are ${tables.join(', ')}`;
}

// `{{name}}`, `{name:String}`, `${name}`, `%(name)s`, `:name`: those of templates, of the engine, and of other services.
const OTHER_PARAMETER =
  /\{\{\s*(\w+)\s*\}\}|\{\s*(\w+)\s*:\s*\w[\w()]*\s*\}|\$\{\s*(\w+)\s*\}|%\((\w+)\)s|(?<![:\w]):([A-Za-z_]\w*)/;

function adviseParameter(text: string): string | undefined {
  const [given, ...names] = OTHER_PARAMETER.exec(text) ?? [];
  const name = names.find((one) => one !== undefined);
  return name === undefined ? undefined : `a parameter is written @${name}, not ${given}`;
}

const PATH_AS_COLUMN = /UNKNOWN_IDENTIFIER/;
const PATH = /identifier [`'](?:\w+\.)?((?:metadata|attributes)((?:\.\w+)+))[`']/;

function adviseColumn(message: string): string | undefined {
  const [, path = '', members = ''] = (PATH_AS_COLUMN.test(message) && PATH.exec(message)) || [];
  if (path === '') return undefined;
  const names = members.slice(1).split('.');
  const column = path.slice(0, -members.length);
  const call = `JSONExtractString(${column}, ${names.map((name) => `'${name}'`).join(', ')})`;
  return `${column} is a string of JSON: read ${path} as ${call}, or declare a column with this path in the source`;
}

/** Returns the query with its texts and comments blanked. */
function withoutTexts(sql: string): string {
  const { words, comments } = parseSql(sql);
  const hidden = [...comments, ...words.filter(({ kind }) => kind === 'text')];
  return applyEdits(
    sql,
    hidden.map(({ start, end }) => ({ start, end, text: ' '.repeat(end - start) })),
  );
}
