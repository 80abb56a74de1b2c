import { invalidBody } from '../plugins/json-body.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const ID_CHARS_MAX = 100;

/** A page of a long list, newest first: how many, and the id of the last one seen. */
export interface Page {
  readonly limit: number;
  readonly before: string | undefined;
}

/** `?limit=&before=` of a query string. @throws TailraceError `invalid_request` */
export function parsePage(query: unknown): Page {
  const { limit = String(LIMIT), before } = query as Record<string, unknown>; // the parser of query strings makes an object
  const number = typeof limit === 'string' && /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : LIMIT_MAX + 1;
  if (number > LIMIT_MAX) {
    throw invalidBody([{ parameter: 'limit', message: `must be a whole number from 1 to ${LIMIT_MAX}` }]);
  }
  if (before === undefined || (typeof before === 'string' && before.length <= ID_CHARS_MAX))
    return { limit: number, before };
  throw invalidBody([{ parameter: 'before', message: 'must be the id of the last one seen' }]);
}
