import { TailraceError } from '../errors.ts';
import { type AuditEntry, actorOf } from '../keys/audit.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { isManager } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import type { SessionRecord } from '../keys/session-store.ts';
import { isoTimeOrNull } from '../lib/instant.ts';
import type { Sessions } from '../people/sessions.ts';
import { toGrantView } from './key-view.ts';
import { requireUnrestricted } from './keys.ts';
import type { Me, Session } from './view.ts';

export interface SessionParts {
  readonly sessions: Pick<Sessions, 'list' | 'find' | 'end'>;
  readonly control: Pick<ControlStore, 'record'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Describes the sender of a request. */
export function describeMe(caller: Caller, version: string): Me {
  const { keyId: id, token, person, session = null } = caller;
  const { rate: _, ...grant } = toGrantView(caller);
  const { name = id, role = null, choices = {}, denied = null } = person ?? {};
  const kind = token === undefined ? 'key' : 'token';
  return {
    ...{ ...grant, id, name, role, session, denied, version },
    kind: person === undefined ? kind : 'person',
    token: token !== undefined,
    choices: Object.fromEntries(Object.entries(choices).map(([pin, all]) => [pin, [...all]])),
  };
}

/**
 * Lists sessions, newest first; those of everyone only for callers that manage without limits.
 * @throws TailraceError `forbidden`
 */
export async function listSessions(
  { sessions }: SessionParts,
  caller: Caller,
  { of }: { readonly of: 'me' | 'all' },
) {
  rejectToken(caller);
  if (of === 'all') requireManager(caller);
  const found = await sessions.list(of === 'all' ? undefined : caller.keyId);
  return { result: found.map((record) => toSessionView(record, caller.session)) };
}

/**
 * Ends a session of the caller, or of anyone if the caller manages without limits.
 * @throws TailraceError `not_found`, even if it exists
 */
export async function endSession(
  parts: SessionParts,
  caller: Caller,
  { id }: { readonly id: string },
): Promise<void> {
  rejectToken(caller);
  const found = await parts.sessions.find(id);
  if (found === undefined || (found.owner !== caller.keyId && !isManager(caller)))
    throw new TailraceError(
      'not_found',
      `you have no session with the id ${JSON.stringify(id.slice(0, 100))}`,
    );
  await endRecorded(parts, id, actorOf(caller));
}

/** Ends a session, and writes that into the audit trail. */
export async function endRecorded(
  { sessions, control, now }: SessionParts,
  id: string,
  by: Pick<AuditEntry, 'actor' | 'address'>,
): Promise<void> {
  const ended = await sessions.end(id);
  if (ended === undefined) return;
  const { owner, name, claims } = ended;
  const isKey = claims === undefined;
  const detail = `session ${id} of ${isKey ? `the key ${owner}` : `${name} (${owner})`}`;
  const entry = { ...by, action: 'ended', atMs: now(), keyId: isKey ? owner : '', detail, count: 1 } as const;
  await control.record([entry]);
}

function requireManager(caller: Caller): void {
  const message = 'the sessions of all need the scope "manage"';
  if (!caller.scopes.includes('manage'))
    throw new TailraceError('forbidden', message, { rejectReason: 'scope' });
  requireUnrestricted(caller, 'see or end the sessions of others');
}

/** A signed token has the id of its key, and is for front ends. */
function rejectToken({ token }: Caller): void {
  if (token === undefined) return;
  const message = 'a signed token has no sessions; send the key itself';
  throw new TailraceError('forbidden', message, { rejectReason: 'wider' });
}

/** @param current id of the session of the request */
function toSessionView(record: SessionRecord, current?: string): Session {
  const { id, owner, name, claims, createdMs, seenMs, expiresMs, address, agent } = record;
  return {
    ...{ id, owner, name, address, agent },
    kind: claims === undefined ? 'key' : 'person',
    current: id === current,
    created_at: isoTimeOrNull(createdMs),
    seen_at: isoTimeOrNull(seenMs),
    expires_at: isoTimeOrNull(expiresMs),
  };
}
