import type { SqlFile } from '../definitions/checks/endpoint.ts';
import { type Fault, messageOf, placeAt } from '../errors.ts';
import { SyntaxTreeError } from '../sandbox/syntax-tree.ts';
import { createRewriter, findParameters, parseSql } from '../sql/parse.ts';

/** Returns the engine's message for the author of a query, who may see the data: its values are kept. */
export function engineMessage(error: unknown): string {
  return cutStatement(
    shorten(messageOf(error))
      .replace(/^(?:(?:[\w ]*: )?Code: \d+\. DB::Exception: )+/, '')
      .replace(/(: )?In scope\b.*?(?=(?:\. Maybe you meant|\(\w+\)\s*$|$))/s, '')
      .replace(/Expected one of: .*$/s, ''),
  )
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400)
    .trim();
}

const HEAD_CHARS = 8_000;
const TAIL_CHARS = 1_000;

/** Cuts the middle, where the message repeats the statement: the fault is at its start, advice at its end. */
function shorten(message: string): string {
  if (message.length <= HEAD_CHARS + TAIL_CHARS) return message;
  return `${message.slice(0, HEAD_CHARS)}…${message.slice(-TAIL_CHARS)}`;
}

// The message repeats the text at the place; the place is reported separately.
const POSITION =
  /: failed at position \d+ \((.*?)\)(?: \(line \d+, col \d+\))?:.*?(?=\bUnmatched\b|Expected\b|\([A-Z_]+\)\s*$|$)/s;
const SCOPE = / in (?:scope|query) (?:SELECT|WITH|\().*?(?=\. Maybe you meant|\. \([A-Z_]+\)\s*$|$)/is;

/** Returns a message of the engine without the statement, which is longer than the author's text. */
function cutStatement(message: string): string {
  return message
    .replace(POSITION, ' at “$1”. ')
    .replace(SCOPE, '')
    .replace(/(?<!\. )(?:\. )+(?=Maybe you meant)/, '. '); // begins at the first one only: linear
}

/**
 * The fault of a query that the engine has rejected: its message at the place in the author's text that it points to,
 * that of a syntax error or the first use of the name that the engine does not know or accept.
 * @param write returns what the engine got instead of a `@name`
 */
export function toFault({ file, text: sql }: SqlFile, error: unknown, write: SentQuery['write']): Fault {
  if (error instanceof SyntaxTreeError) return { file, line: 1, message: error.message };
  const message = messageOf(error);
  const offset = findPosition(message, { sql, write }) ?? findName(message, sql);
  return { file, line: 1, ...(offset !== undefined && placeAt(sql, offset)), message: engineMessage(error) };
}

/** A query as its author wrote it. */
interface SentQuery {
  readonly sql: string;
  readonly write: (name: string) => string;
}

const PLACE = /failed at position (\d+) \((.*?)\)(?: \(line (\d+), col (\d+)\))?:/s;

/**
 * The engine counts bytes of the text that it got, from 1. If that began with other words, line and column are still
 * right from the query's second line on. The token that the message shows proves which case it is.
 */
function findPosition(message: string, query: SentQuery): number | undefined {
  const [, position, token = '', line, column] = PLACE.exec(message) ?? [];
  if (position === undefined) return undefined;
  const sent = createRewriter(query.sql)(query.write);
  const places = [toUnits(sent, Number(position) - 1)];
  if (line !== undefined && line !== '1') {
    const lines = sent.split('\n').slice(0, Number(line) - 1);
    const before = lines.join('\n').length + 1;
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
