import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { TailraceError } from '../../errors.ts';

/** A place in the caller's text, each counted from 1. */
interface SourceLocation {
  readonly line: number;
  readonly column: number;
}

/** The error for a caller's BigQuery SELECT. @param message what is not understood in it, and what would be */
export function reject(message: string, place?: SourceLocation, cause?: unknown): TailraceError {
  const at = place === undefined ? '' : ` at line ${place.line}, column ${place.column}`;
  const fault = { parameter: SQL_PARAMETER, message: `${message}${at}` };
  return new TailraceError('invalid_parameter', `${fault.parameter} ${fault.message}`, {
    errors: [fault],
    cause,
  });
}

/** The place of an offset in UTF-16 units. */
export function locate(sql: string, offset: number): SourceLocation {
  const before = sql.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** What the caller wrote, cut for a message. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
