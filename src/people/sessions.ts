import type { TailraceError } from '../errors.ts';
import { createSecret, findKeyId, hashKey, sameHash } from '../keys/grant.ts';
import { andThen, type Caller, type Keyring, orRejected, unauthorized } from '../keys/keyring.ts';
import { createKnown } from '../keys/known-keys.ts';
import type { SessionRecord, SessionStore } from '../keys/session-store.ts';

interface SessionsOptions {
  readonly store: SessionStore;
  readonly keyring: Pick<Keyring, 'resume' | 'countRejected'>;
  /** Returns the caller of a person's session. */
  readonly callerOf: (record: SessionRecord, url: string) => Caller;
  readonly limits: { readonly idleMs: number; readonly staleMs: number };
  /** Whether keys may sign in: those that have before lose their sessions, too. */
  readonly acceptsKeys: boolean;
  /** Called if the last use of a session could not be written. */
  readonly onFailure: (error: unknown) => void;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly ticks?: () => number;
}

/** The subject of a new session: a person with claims, or a key with its fingerprint. */
export interface NewSession
  extends Pick<SessionRecord, 'owner' | 'name' | 'address' | 'agent'>,
    Partial<Pick<SessionRecord, 'claims' | 'print' | 'login'>> {
  /** The cookie that the browser has: its session ends. */
  readonly replaces: string | undefined;
}

export type Sessions = ReturnType<typeof createSessions>;

// A day at work; then the provider decides again.
export const SESSION_MS_MAX = 24 * 3_600_000;
const AGENT_CHARS_MAX = 200;
const TOUCH_EVERY_MS = 60_000;

/** Sessions of the console: opens, checks and ends them. */
export function createSessions(options: SessionsOptions) {
  const { store, keyring, callerOf, limits, acceptsKeys, onFailure, now } = options;
  const { ticks = () => performance.now() } = options;
  const known = createKnown<KnownSession>({
    ...{ freshMs: FRESH_MS, staleMs: limits.staleMs, max: SESSIONS_MAX, ticks },
    async read(id, last) {
      const record = await store.find(id);
      return record && toKnown(record, last);
    },
    ageMs: (readAtMs) => ticks() - readAtMs,
    isDown: (hasFailed) => hasFailed,
  });

  function rejectSession(address: string): TailraceError {
    keyring.countRejected('', 'session', address);
    return unauthorized('the session is not known or has ended; sign in again', 'session');
  }

  function accept(found: KnownSession, url: string, address: string): Caller | Promise<Caller> {
    const { record, seenMs } = found;
    if (seenMs - found.touchedMs >= TOUCH_EVERY_MS) {
      found.touchedMs = seenMs;
      store.touch(record.id, seenMs).catch(onFailure);
    }
    if (record.claims !== undefined) return callerOf(record, url);
    if (!acceptsKeys) throw rejectSession(address);
    const held = { keyId: record.owner, print: record.print };
    return andThen(keyring.resume(held, address), (caller): Caller => {
      return { ...caller, session: record.id, isAmbient: true };
    });
  }

  /** Notes the use of a session. @throws TailraceError `unauthorized` */
  function check(found: KnownSession | undefined, secret: string, address: string): KnownSession {
    const nowMs = now();
    const isOver = (one: KnownSession) =>
      one.record.expiresMs <= nowMs || one.seenMs + limits.idleMs <= nowMs;
    if (found === undefined || !isOf(found, secret) || isOver(found)) throw rejectSession(address);
    found.seenMs = nowMs;
    return found;
  }

  async function end(id: string): Promise<SessionRecord | undefined> {
    try {
      return await store.end(id);
    } finally {
      known.forget(); // even if the outcome of the write is unknown
    }
  }

  async function endOwn(secret: string): Promise<SessionRecord | undefined> {
    const id = findKeyId(secret, 'ts');
    const found = id && (await store.find(id));
    return found && sameHash(hashOf(found), hashKey(secret)) ? await end(found.id) : undefined;
  }

  return {
    /**
     * Finds the caller of a session by its cookie, and by the URL, in which a person with several projects chooses one. A
     * promise only if the control store has to be read. Rejects with TailraceError `unauthorized`, or the store's failure.
     */
    authenticate: (secret: string, url: string, address = '') =>
      orRejected(() => {
        const id = findKeyId(secret, 'ts');
        const found = id === undefined ? undefined : known.find(id);
        return andThen(found, (one) => accept(check(one, secret, address), url, address));
      }),
    /** @returns the value of the cookie; `undefined` if this sign-in has opened a session already */
    async open({ replaces, agent, ...session }: NewSession): Promise<string | undefined> {
      const { key: secret, id, hash } = createSecret('ts');
      const nowMs = now();
      const times = { createdMs: nowMs, seenMs: nowMs, expiresMs: nowMs + SESSION_MS_MAX };
      const texts = { claims: undefined, print: '', login: '', agent: agent.slice(0, AGENT_CHARS_MAX) };
      const isAdded = await store.add({ ...texts, ...session, ...times, id, hash: hash.toString('hex') });
      if (isAdded) known.forget(); // the oldest session of this owner may have ended
      if (isAdded && replaces !== undefined) await endOwn(replaces);
      return isAdded ? secret : undefined;
    },
    /** Ends the session of a cookie. @returns `undefined` if there is none */
    endOwn,
    list: store.list,
    find: store.find,
    end,
    /** Deletes sessions that are over; for a task. */
    removeOld: () => store.removeOld(now(), now() - limits.idleMs),
  };
}

/** A session that was read a moment ago. */
interface KnownSession {
  readonly record: SessionRecord;
  /** SHA-256 of the cookie's value. */
  readonly hash: Uint8Array;
  /** That value, once a request has sent it. */
  right?: Uint8Array;
  /** Last known use, ms since the epoch. */
  seenMs: number;
  /** The last use that was written. */
  touchedMs: number;
}

// A session that another process has ended is used no longer than this.
const FRESH_MS = 1_000;
// Claims take up to 64 KB each.
const SESSIONS_MAX = 2_000;

/** Whether a cookie is that of a session. The last right one is remembered: hashing it again takes as long as the rest. */
function isOf(session: KnownSession, secret: string): boolean {
  const bytes = Buffer.from(secret, 'latin1');
  if (session.right !== undefined && sameHash(session.right, bytes)) return true;
  const isRight = sameHash(session.hash, hashKey(secret));
  if (isRight) session.right = new Uint8Array(bytes); // a copy: a short Buffer holds 8 KB of its pool
  return isRight;
}

const hashOf = (record: SessionRecord) => Buffer.from(record.hash, 'hex');

/** Keeps what is known of an unchanged session. */
function toKnown(record: SessionRecord, last: KnownSession | undefined): KnownSession {
  const { seenMs } = record;
  if (last === undefined || last.record.hash !== record.hash)
    return { record, hash: hashOf(record), seenMs, touchedMs: seenMs };
  last.seenMs = Math.max(seenMs, last.seenMs);
  return last;
}
