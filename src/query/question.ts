import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_SKIP } from '../definitions/pages.ts';
import { PINNED_PREFIX } from '../definitions/parameter.ts';
import { EARLIEST_MICROS, formatInstant, type Micros, parseInstant } from '../lib/instant.ts';
import { type Format, JSON_FORMAT, requireFormat } from './format.ts';
import type { ParameterValues } from './parameters.ts';
import { bindPosition, type Position } from './position.ts';

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

/** Whether a question is about a page with rows that are not JSON: the end of such a page is not visible; see steps.ts. */
export function isOpaquePage({ endpoint, format }: Question): boolean {
  return endpoint.pages !== undefined && format.engineFormat !== JSON_FORMAT.engineFormat;
}

/** The same question from another position on. */
export function at(question: Question, position: Position): Question {
  const { endpoint, values, key } = question;
  const moved = bindPosition(endpoint.pages, position);
  return { ...question, values: { ...values, ...moved }, key: `${key} at ${JSON.stringify(position)}` };
}

/** The same question without rows from before an instant; unchanged if its range is not a parameter. */
export function since(question: Question, from: Micros): Question {
  const { endpoint, values } = question;
  const after = endpoint.pages?.range?.after;
  if (after === undefined) return question;
  const start = parseInstant(values[after] ?? '') ?? EARLIEST_MICROS;
  return { ...question, values: { ...values, [after]: formatInstant(Math.max(start, from - 1)) } };
}
