import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { type Caller, CHALLENGE } from '../keys/keyring.ts';
import type { SessionRecord } from '../keys/session-store.ts';
import { createProxyIdentity, type Identity } from './identity.ts';
import { type CallerOf, createCallerOf, type Roles } from './role.ts';

// Callers of people whom a proxy names; beyond it those not seen for longest are created again.
const NAMED_MAX = 10_000;
const USER_CHARS_MAX = 1_024;

interface Kept {
  readonly roles: Roles;
  readonly of: CallerOf;
}

interface Known<K> {
  get(key: K): Kept | undefined;
  set(key: K, kept: Kept): unknown;
}

/** Creates the callers of people, and again when the roles have changed. @param current the roles that count now */
export function createPeopleCallers(current: () => Roles) {
  const bySession = new WeakMap<SessionRecord, Kept>();
  const byName = new LRUCache<string, Kept>({ max: NAMED_MAX });

  function find<K>(known: Known<K>, key: K, create: (roles: Roles) => CallerOf): CallerOf {
    const roles = current();
    const kept = known.get(key);
    if (kept?.roles === roles) return kept.of;
    const of = create(roles);
    known.set(key, { roles, of });
    return of;
  }

  return {
    ofSession(record: SessionRecord, url: string): Caller {
      const { owner: id, name, claims = {} } = record;
      const of = find(bySession, record, (roles) => createCallerOf({ id, name, claims }, roles, record.id));
      return of((pin) => findChoice(url, pin));
    },
    /** @throws TailraceError `unauthorized` if a proxy's headers name nobody */
    ofProxy({ user, groups, url }: Proxied): Caller {
      const of = find(byName, `${user}\n${groups}`, (roles) =>
        createCallerOf(getProxied(user, groups), roles),
      );
      return of((pin) => findChoice(url, pin));
    },
  };
}

/** What a proxy says of the sender of a request. */
export interface Proxied {
  readonly user: string;
  /** Joined by commas. */
  readonly groups: string;
  readonly url: string;
}

function getProxied(user: string, groups: string): Identity {
  const list = groups.split(',').map((group) => group.trim());
  const identity = user.length > USER_CHARS_MAX ? undefined : createProxyIdentity(user, list.filter(Boolean));
  if (identity !== undefined) return identity;
  const message = `the proxy names a user of more than ${USER_CHARS_MAX} characters`;
  throw new TailraceError('unauthorized', message, { headers: CHALLENGE });
}

/** Returns the value of a parameter of the URL; `undefined` if it is missing or repeated. */
function findChoice(url: string, pin: string): string | undefined {
  const start = url.indexOf('?');
  if (start === -1) return undefined;
  const [value, ...others] = new URLSearchParams(url.slice(start)).getAll(pin);
  return others.length === 0 ? value : undefined;
}
