import type { StoredEntry } from '../keys/audit.ts';
import type { Grant } from '../keys/grant.ts';
import type { KeyRecord } from '../keys/key-record.ts';
import type { KeyEntry, KeyView } from './view.ts';

/** Describes a key without its secret and the secret's hash. */
export function toKeyView(record: KeyRecord): KeyView {
  const { id, name, description } = record;
  return {
    id,
    name,
    description,
    ...toGrantView(record),
    created_at: toIsoTime(record.createdMs),
    expires_at: toIsoTime(record.expiresMs),
    last_used_at: toIsoTime(record.lastUsedMs),
    revoked_at: toIsoTime(record.revokedMs),
    successor: record.successor ?? null,
  };
}

/** Describes an entry of the audit trail. */
export function toEntryView({
  id,
  atMs,
  action,
  keyId,
  actor,
  address,
  detail,
  count,
}: StoredEntry): KeyEntry {
  return { id, at: toIsoTime(atMs), action, key_id: keyId, actor, address: address ?? '', detail, count };
}

/** Describes the rights of a key or a token; the calling code adds the expiry. */
export function toGrantView({ scopes, endpoints, sources, pins, rate }: Grant) {
  return {
    scopes: [...scopes],
    endpoints: endpoints === undefined ? null : [...endpoints],
    sources: sources === undefined ? null : [...sources],
    pins,
    rate: rate === undefined ? null : { per_second: rate.perSecond, burst: rate.burst },
  };
}

export function toIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
