import { GENERAL_SOURCE } from '../definitions/accepts.ts';
import type { Registry } from '../definitions/registry.ts';
import type { RejectedEvents, RejectedLog } from '../ingest/rejected.ts';
import { isListed, isUnrestricted } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { isoTime } from '../lib/instant.ts';
import { OWNER } from '../query/pins.ts';
import type { RejectedRequestLog } from '../telemetry/rejected-requests.ts';
import type { RejectedEventsView, RejectedRequestsView } from './admin-view.ts';
import { type KeyParts, readReachableKeys } from './keys.ts';

export interface RejectionParts extends KeyParts {
  readonly registry: Registry;
  readonly rejectedRequests: Pick<RejectedRequestLog, 'list'>;
  readonly rejectedEvents: Pick<RejectedLog, 'list'>;
  /** ms since the epoch. */
  readonly startedMs: number;
}

/** Lists what was rejected since the start; a limited caller sees only requests of keys that it may know of. */
export async function listRejectedRequests(
  parts: RejectionParts,
  caller: Caller,
): Promise<RejectedRequestsView> {
  const seesAll = isUnrestricted(caller);
  const keys = seesAll ? undefined : await readReachableKeys(parts, caller);
  const shown = parts.rejectedRequests
    .list()
    .filter(({ keyId }) => keys === undefined || (keyId !== undefined && keys.has(keyId)));
  // A message may hold values that another caller has sent.
  const seesValues = seesAll && caller.scopes.includes('query');
  return {
    since: isoTime(parts.startedMs),
    result: shown.map(({ code, status, reason, method, route, keyId, address, message, ...seen }) => ({
      ...{ code, status, reason: reason ?? null, method, route, key: keyId ?? null, address },
      ...toSeen(seen),
      message: seesValues ? message : null,
    })),
  };
}

/** Lists the events that were rejected since the start, with samples for callers that may read such events. */
export async function listRejectedEvents(parts: RejectionParts, caller: Caller): Promise<RejectedEventsView> {
  const keys = isUnrestricted(caller) ? undefined : await readReachableKeys(parts, caller);
  const shown = parts.rejectedEvents.list().filter((kind) => isOfCaller(kind, parts.registry, caller));
  return {
    since: isoTime(parts.startedMs),
    result: shown.map(({ source, pattern, reason, keyId, sample, ...seen }) => ({
      ...{ source, reason: pattern, key: keys === undefined || keys.has(keyId) ? keyId : null },
      ...toSeen(seen),
      last: maySearch(caller) ? { reason, event: sample ?? null } : null,
    })),
  };
}

/**
 * Whether events may be of a source and project that the caller reads. Only the sender's pin says of which project
 * rejected events are.
 */
function isOfCaller(
  { source: name, pinnedProject }: RejectedEvents,
  registry: Registry,
  { sources, pins }: Caller,
): boolean {
  const source = registry.findSource(name === '' ? GENERAL_SOURCE : name);
  const isOfSources = sources === undefined || (source !== undefined && isListed(sources, source));
  const isPinned = Object.keys(pins).length > 0;
  return isOfSources && (!isPinned || (pinnedProject !== undefined && pinnedProject === pins[OWNER]));
}

/** As /api/search: keys that are limited to endpoints read no events but by those. */
function maySearch({ scopes, endpoints }: Caller): boolean {
  return scopes.includes('query') && endpoints === undefined;
}

function toSeen({ count, firstMs, lastMs }: Pick<RejectedEvents, 'count' | 'firstMs' | 'lastMs'>) {
  return { count, first_at: isoTime(firstMs), last_at: isoTime(lastMs) };
}
