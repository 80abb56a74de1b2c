import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_SKIP } from '../definitions/pages.ts';
import { PINNED_PREFIX } from '../definitions/parameter.ts';
import type { Values } from '../sql/sql.ts';
import { type Format, JSON_FORMAT, requireFormat } from './format.ts';
import type { ParameterValues } from './parameters.ts';

/** What a caller asks for: all that shapes an answer but the clock and the data. */
export interface Question {
  readonly endpoint: Endpoint;
  readonly values: ParameterValues;
  readonly format: Format;
  /** The whole question as one text, compared in full: the cache key. */
  readonly key: string;
}

/**
 * By UUID or by name, with undeclared parameters or without, the same question has the same key. The values include the
 * pins that the SQL reads; nothing else of an API key shapes an answer, so two API keys that resolve to the same values
 * may share one.
 *
 * @throws TailraceError `invalid_parameter` if the endpoint has no answer in this format
 */
export function createQuestion(endpoint: Endpoint, values: ParameterValues, format = JSON_FORMAT): Question {
  requireFormat(format, endpoint);
  const resolved = endpoint.parameters.map((parameter) => values[parameter.name]);
  const pinned = endpoint.pinned.map((name) => values[PINNED_PREFIX + name]);
  const position =
    endpoint.pages === undefined
      ? []
      : [...endpoint.pages.by.map(({ name }) => values[CURSOR_PREFIX + name]), values[PAGE_SKIP]];
  const key = JSON.stringify([endpoint.id, endpoint.hash, format.name, ...resolved, ...pinned, ...position]);
  const { bound } = endpoint; // is in the hash
  return { endpoint, values: bound === undefined ? values : { ...values, ...bound }, format, key };
}

/** Whether the values of all patterns are texts without a meaning in patterns, so that no engine can reject them. */
export function arePlainPatterns({ parameters }: Endpoint, values: Values): boolean {
  return parameters.every(
    ({ name, isPattern }) => !isPattern || PLAIN_TEXT.test(String(values[name] ?? '(')),
  );
}

const PLAIN_TEXT = /^[\w :/-]{1,1000}$/;
