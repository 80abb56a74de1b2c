import type { Endpoint } from '../definitions/endpoint.ts';
import { PINNED_PREFIX } from '../definitions/parameter.ts';
import type { ParameterValues } from '../query/parameters.ts';

/**
 * All that shapes an answer, as one text that is compared in full: the endpoint, the definition that it had, and every
 * parameter's resolved value, with the pins that its SQL reads. Nothing else of a key shapes an answer, so two keys that
 * resolve to the same values may share one. By UUID or by name, with junk parameters or without, the same question has the same key.
 */
export function cacheKey(endpoint: Endpoint, values: ParameterValues): string {
  const resolved = endpoint.parameters.map((parameter) => values[parameter.name]);
  const pinned = endpoint.pinned.map((name) => values[PINNED_PREFIX + name]);
  return JSON.stringify([endpoint.id, endpoint.hash, ...resolved, ...pinned]);
}
