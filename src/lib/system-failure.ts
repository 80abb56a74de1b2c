import { InputError, TransientError } from '../errors.ts';

/** Failures of the system that the next start may not meet, although nobody changes a setting or a definition. */
const SYSTEM_CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'EBUSY', 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'], // disk and machine
  ...['EADDRINUSE', 'EADDRNOTAVAIL'], // another process ends, an interface comes up
  // A server is not up yet.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
  ...['ETIMEDOUT', 'ENOTCONN', 'ENOTFOUND', 'EAI_AGAIN'], // its name cannot be resolved yet
]);

// https://www.postgresql.org/docs/current/errcodes-appendix.html: connections, conflicts, resources, shutdown and
// start, system.
const POSTGRES_CLASSES = /^(?:08|40|53|57|58|55P03)/;
// The driver's own errors have no code.
const POSTGRES_ENDED = /timeout|timed out|terminated/i;

/** Whether a failure may be over at the next start. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isTransient);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (SYSTEM_CODES.has(code)) return true;
  const sqlite = findSqliteFailure(error);
  if (sqlite !== undefined) return sqlite !== 'other';
  if (typeof code === 'string') return POSTGRES_CLASSES.test(code);
  return typeof message === 'string' && POSTGRES_ENDED.test(message);
}

/** The error of a start that failed; an InputError already says what to do. */
export function toStartError(fault: string, cause: unknown): InputError {
  if (cause instanceof InputError) return cause;
  return isTransient(cause) ? new TransientError([fault], { cause }) : new InputError([fault], { cause });
}

/** Whether the disk is full, or the share of this user. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || findSqliteFailure(error) === 'full';
}

/** Returns the error's message; for a full disk, what to do. */
export function describeSystemFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isOutOfSpace(error) ? 'the disk is full; make room' : message;
}

/** The reason of a failure of SQLite: no space is left, another process is writing, or anything else. */
export type SqliteFailure = 'full' | 'busy' | 'other';

// https://www.sqlite.org/rescode.html
const FULL = 13;
const BUSY = 5;
const LOCKED = 6;
const IOERR_SHMSIZE = 4874; // its shared memory file beside the database cannot grow

/** @returns `undefined` if the error is not SQLite's */
export function findSqliteFailure(error: unknown): SqliteFailure | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return undefined;
  if (errcode === IOERR_SHMSIZE) return 'full';
  const primary = errcode & 0xff; // the other bits are details
  if (primary === FULL) return 'full';
  return primary === BUSY || primary === LOCKED ? 'busy' : 'other';
}
