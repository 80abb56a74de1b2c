import type { Fault } from '../definitions/fault.ts';
import { createRewriter, findParameters } from '../sql/parameter.ts';
import { parseSql } from '../sql/parse.ts';

/** A query as its author wrote it, and what the engine got instead of each `@name`. */
interface SentQuery {
  readonly sql: string;
  readonly write: (name: string) => string;
}

/**
 * Finds the place in the author's text that a message of the engine points to: that of a syntax error, or the first use
 * of the name that the engine does not know or accept. `undefined` if the message names neither.
 *
 * @param message as the engine wrote it
 */
export function findSourceLocation(
  message: string,
  query: SentQuery,
): Pick<Fault, 'line' | 'column'> | undefined {
  const offset = findPosition(message, query) ?? findName(message, query.sql);
  if (offset === undefined) return undefined;
  const before = query.sql.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

const POSITION = /failed at position (\d+) \((.*?)\)(?: \(line (\d+), col (\d+)\))?:/s;

/**
 * The engine counts bytes of the text that it got, from 1. If that began with other words, line and column are still
 * right from the query's second line on. The token that the message shows proves which case it is.
 */
function findPosition(message: string, query: SentQuery): number | undefined {
  const [, position, token = '', line, column] = POSITION.exec(message) ?? [];
  if (position === undefined) return undefined;
  const sent = createRewriter(query.sql)(query.write);
  const places = [toUnits(sent, Number(position) - 1)];
  if (line !== undefined && line !== '1') {
    const before =
      sent
        .split('\n')
        .slice(0, Number(line) - 1)
        .join('\n').length + 1;
    places.push(before + toUnits(sent.slice(before), Number(column) - 1));
  }
  const found = places.find((at) =>
    token === 'end of query' ? at <= sent.length : sent.startsWith(token, at),
  );
  return found === undefined ? undefined : Math.min(toAuthors(query, found), query.sql.trimEnd().length);
}

/** Converts an offset in bytes to UTF-16 units. */
function toUnits(text: string, bytes: number): number {
  return Buffer.from(text).subarray(0, bytes).toString().length;
}

/** Converts an offset in the sent text to one in the author's; within a value, to that of its `@name`. */
function toAuthors({ sql, write }: SentQuery, offset: number): number {
  let shift = 0;
  for (const { name, start, end } of findParameters(sql)) {
    if (offset < start + shift) break;
    const growth = write(name).length - (end - start);
    if (offset < end + growth + shift) return start;
    shift += growth;
  }
  return offset - shift;
}

const NAMES = [/`([^`]+)`/, /\bfunction '?(\w+)/, /'([\w.]+)'/];

function findName(message: string, sql: string): number | undefined {
  const words = parseSql(sql).words.filter(({ kind }) => kind === 'word' || kind === 'name');
  for (const form of NAMES) {
    const name = form.exec(message)?.[1];
    if (name === undefined) continue;
    const last = name.slice(name.lastIndexOf('.') + 1);
    const find = (wanted: string) =>
      words.find(({ kind, text, start }) => {
        if (kind === 'name') return text.slice(1, -1) === wanted;
        return sql.startsWith(wanted, start) && !/\w/.test(sql.charAt(start + wanted.length));
      });
    const found = find(name) ?? find(last);
    if (found !== undefined) return found.start;
  }
  return undefined;
}
