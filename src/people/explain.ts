import { messageOf } from '../errors.ts';
import { isObject } from '../lib/json.ts';

const CHARS_MAX = 1_000;

/**
 * Says for the log why a sign-in has failed, with the causes: the library's own message is general. Neither secrets nor
 * claims are in it.
 */
export function explain(error: unknown): string {
  return findReasons(error).join(': ').slice(0, CHARS_MAX);
}

function findReasons(error: unknown): readonly string[] {
  if (error instanceof Response) return [`HTTP status ${error.status}`];
  if (!(error instanceof Error)) return findDetails(error);
  return error.cause === undefined ? [messageOf(error)] : [messageOf(error), ...findReasons(error.cause)];
}

/** What the library gives as the cause of a rejected response. */
function findDetails(cause: unknown): readonly string[] {
  if (cause instanceof URLSearchParams) return findDetails(Object.fromEntries(cause));
  if (!isObject(cause)) return [];
  const { error, error_description: description, expected, body, attribute, claim } = cause;
  if (typeof error === 'string') return [error, description].filter((one) => typeof one === 'string');
  if (attribute === 'issuer' && isObject(body))
    return [`TAILRACE_OIDC_ISSUER is ${String(expected)}, and the provider names ${String(body['issuer'])}`];
  return typeof claim === 'string' ? [`claim ${claim}`] : [];
}
