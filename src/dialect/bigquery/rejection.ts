import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { type placeAt, TailraceError } from '../../errors.ts';

/** The error for a caller's BigQuery SELECT. @param message what is not understood in it, and what would be */
export function reject(message: string, place?: ReturnType<typeof placeAt>, cause?: unknown): TailraceError {
  const at = place === undefined ? '' : ` at line ${place.line}, column ${place.column}`;
  const fault = { parameter: SQL_PARAMETER, message: `${message}${at}` };
  return new TailraceError('invalid_parameter', `${fault.parameter} ${fault.message}`, {
    errors: [fault],
    cause,
  });
}

/** What the caller wrote, cut for a message. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
