import type { Endpoint } from '../definitions/endpoint.ts';
import type { Source } from '../definitions/source.ts';
import { type Grant, isListed } from '../keys/grant.ts';

type Reach = Pick<Grant, 'scopes' | 'endpoints' | 'sources'>;

/** The endpoints that a key may know of: those it may read, and for keys with `manage` those that it may let others read. */
export function visibleEndpoints(
  endpoints: readonly Endpoint[],
  { scopes, endpoints: listed }: Reach,
): readonly Endpoint[] {
  if (!scopes.includes('query') && !scopes.includes('manage')) return [];
  return endpoints.filter((endpoint) => isListed(listed, endpoint));
}

/** The same for sources: of those that events may be sent to. */
export function visibleSources(
  sources: readonly Source[],
  { scopes, sources: listed }: Reach,
): readonly Source[] {
  if (!scopes.includes('ingest') && !scopes.includes('manage')) return [];
  return sources.filter((source) => isListed(listed, source));
}
