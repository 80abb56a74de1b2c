import { messageOf } from '../errors.ts';

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

/**
 * Shortens a message in the middle: it repeats the statement, which may be long; the fault is at its start, advice at
 * its end.
 */
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
