import { SQL_PARAMETER } from '../../definitions/checks/sandboxing.ts';
import type { TailraceError } from '../../errors.ts';
import { invalidParameters } from '../parameters.ts';

/** The error that tells a caller what of its SELECT is not allowed, and what would be. */
export function refuse(message: string, cause?: unknown): TailraceError {
  return invalidParameters([{ parameter: SQL_PARAMETER, message }], cause);
}
