import type { Endpoint } from '../definitions/endpoint.ts';
import type { ParameterValues } from '../query/parameters.ts';

/**
 * All that shapes an answer, as one text that is compared in full: the endpoint, the definition that it had, and every
 * parameter's resolved value. By UUID or by name, with junk parameters or without, the same question has the same key.
 */
export function cacheKey(endpoint: Endpoint, values: ParameterValues): string {
  const resolved = endpoint.parameters.map((parameter) => values[parameter.name]);
  return JSON.stringify([endpoint.id, endpoint.hash, ...resolved]);
}
