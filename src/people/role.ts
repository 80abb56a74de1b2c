import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Grant, isPinText } from '../keys/grant.ts';
import { type Caller, unauthorized } from '../keys/keyring.ts';
import type { Claims, SessionRecord } from '../keys/session-store.ts';
import { findValue } from '../lib/json.ts';

/** A person whom the provider or a proxy vouches for. */
interface Identity {
  /** The `keyId` of the person's caller: from the issuer and its subject, so that nobody else ever gets it. */
  readonly id: string;
  /** Printable, at most 200 characters; others may have the same. */
  readonly name: string;
  readonly claims: Claims;
}

const NAME_CHARS_MAX = 200;
const CLAIMS_CHARS_MAX = 32 * 1024;
// Claims of the protocol, which differ with each sign-in.
const PROTOCOL = new Set(
  'iss aud azp exp iat nbf jti nonce at_hash c_hash s_hash sid auth_time acr amr'.split(' '),
);

/** @returns `undefined` if the claims are too long to be kept */
export function createIdentity(issuer: string, subject: string, given: Claims): Identity | undefined {
  const claims = Object.fromEntries(Object.entries(given).filter(([name]) => !PROTOCOL.has(name)));
  if (JSON.stringify(claims).length > CLAIMS_CHARS_MAX) return undefined;
  // A NUL separates the two: neither can contain one.
  const id = `person:${hash('sha256', `${issuer}\0${subject}`).slice(0, 24)}`;
  // Some providers let people choose their names: one must not look like the address or id of somebody else.
  const names = [claims['preferred_username'], claims['name']].map(toPrintable);
  const chosen = names.filter((name) => !/@|person:/i.test(name.normalize('NFKC')));
  const all = [toPrintable(findClaim(claims, 'email')), ...chosen, toPrintable(subject)];
  return { id, name: all.find((name) => name !== '') ?? id, claims };
}

/** Removes characters that would change how a log or a list is read: controls, and marks of the direction of writing. */
function toPrintable(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = value.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return [...text.trim()].slice(0, NAME_CHARS_MAX).join('');
}

/**
 * Finds a claim by its name, else by a path with dots, such as `realm_access.roles`. An address that the provider has not
 * verified is missing: anyone can claim another one.
 */
function findClaim(claims: Claims, name: string): unknown {
  if (name === 'email' && claims['email_verified'] !== true) return undefined;
  return Object.hasOwn(claims, name) ? claims[name] : findValue(claims, name.split('.'));
}

/** Returns the verified address of a person, in lower case. */
export function findAddress(claims: Claims): string | undefined {
  const email = findClaim(claims, 'email');
  return typeof email === 'string' ? toLowerAscii(email) : undefined;
}

/** Lower case of A to Z only: that of the Kelvin sign is `k`, which makes it the address of somebody else. */
export function toLowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** An entry of the operator's file: whom it fits, and their rights. */
export interface Role extends Grant {
  readonly name: string;
  /** Any of them. */
  readonly groups: readonly string[] | undefined;
  /** All of them: the claim is this text, or a list that has it. */
  readonly claims: Readonly<Record<string, string>>;
  /** Any of them; `*@example.com` stands for all of a domain. Lower case. */
  readonly addresses: readonly string[] | undefined;
  /** Pins whose values a claim names: pin → claim. */
  readonly claimPins: Readonly<Record<string, string>>;
}

/** The roles of the operator's file; a reload brings a new object. */
export interface Roles {
  readonly roles: readonly Role[];
  /** Whether the file has a fault: then nobody has a role. */
  readonly isBroken: boolean;
}

/** Values of one claim that a request may choose from. */
const CHOICES_MAX = 1_000;
const ASK = 'ask those who run this service';

/** Returns the caller of a request: a person with several values of a pin chooses one by a parameter of its URL. */
type CallerOf = (url: string) => Caller;

/**
 * Finds the rights of a person: those of the first role that fits. Without any the caller has no scope, endpoint or
 * source.
 */
function createCallerOf({ id: keyId, name, claims }: Identity, roles: Roles, session?: string): CallerOf {
  const mark = { keyId, isAmbient: true, ...(session !== undefined && { session }) } as const;
  const deny = (denied: string, role?: string): CallerOf => {
    const person = { name, role, choices: {}, denied };
    const nobody: Caller = { ...mark, person, scopes: [], endpoints: [], sources: [], pins: {} };
    return () => nobody;
  };
  if (roles.isBroken)
    return deny(`the roles file is not valid, so people who sign in have no access; ${ASK}`);
  const role = roles.roles.find((one) => fits(one, claims));
  if (role === undefined) return deny(`${name} has no role here; ${ASK} which group to join`);
  const choices: Record<string, readonly string[]> = {};
  for (const [pin, claim] of Object.entries(role.claimPins)) {
    const values = readChoices(findClaim(claims, claim));
    const needed = `the claim ${claim} of ${name}, which the role ${role.name} needs,`;
    if (typeof values === 'string') return deny(`${needed} ${values}; ${ASK}`, role.name);
    choices[pin] = values;
  }
  return createCallers(role, { ...mark, person: { name, role: role.name, choices, denied: undefined } });
}

// Combinations of chosen values that are kept; then all are created again.
const CALLERS_MAX = 1_000;

/** Keeps each caller: the listener remembers URLs by the identity of its pins. */
function createCallers(role: Role, base: Omit<Caller, keyof Grant>): CallerOf {
  const { scopes, endpoints, sources, rate, pins } = role;
  const choices = Object.entries(base.person?.choices ?? {});
  const create = (chosen: Readonly<Record<string, string>>): Caller => ({
    ...{ ...base, scopes, endpoints, sources, rate },
    pins: { ...pins, ...chosen },
  });
  const first = create(Object.fromEntries(choices.map(([pin, values]) => [pin, values[0] ?? ''])));
  if (choices.every(([, values]) => values.length === 1)) return () => first;
  const known = new Map<string, Caller>();
  return (url) => {
    const parameters = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');
    const chosen = choices.map(([pin, values]) => {
      const wanted = parameters.getAll(pin);
      // Another value is rejected later, as one that a key does not pin; so are several.
      const value = wanted.length === 1 ? values.find((one) => one === wanted[0]) : undefined;
      return [pin, value ?? values[0] ?? ''] as const;
    });
    const key = chosen.map(([, value]) => value).join('\n'); // which no pin contains
    const caller = known.get(key) ?? create(Object.fromEntries(chosen));
    if (known.size >= CALLERS_MAX) known.clear();
    known.set(key, caller);
    return caller;
  };
}

function fits({ groups, claims, addresses }: Role, of: Claims): boolean {
  const own = [findClaim(of, 'groups')].flat();
  const address = findAddress(of);
  const domain = address?.slice(address.lastIndexOf('@'));
  return (
    (groups === undefined || groups.some((group) => own.includes(group))) &&
    Object.entries(claims).every(([name, value]) => hasText(findClaim(of, name), value)) &&
    (addresses === undefined || addresses.some((one) => one === address || one === `*${domain}`))
  );
}

/** Whether a claim has a value as the file writes it: `true` and `7` are texts there. A larger number has lost digits. */
function hasText(claim: unknown, value: string): boolean {
  const isRead = (one: unknown) => ['string', 'boolean'].includes(typeof one) || Number.isSafeInteger(one);
  return [claim].flat().some((one) => isRead(one) && String(one) === value);
}

/** Reads the values of a claim that pins. @returns a text that says what is wrong with it */
function readChoices(claim: unknown): string[] | string {
  if (claim === undefined || claim === null || claim === '') return 'is missing or empty';
  if (typeof claim !== 'string' && !Array.isArray(claim)) return 'must be a string or a list of strings';
  const values = [...new Set([claim].flat())];
  if (values.length === 0) return 'is missing or empty';
  if (values.length > CHOICES_MAX) return `has ${values.length} values; it may have ${CHOICES_MAX}`;
  const texts = values.filter((one) => typeof one === 'string' && isPinText(one));
  return texts.length === values.length ? texts : 'has a value that cannot be a pin';
}

// Beyond it the callers not seen for longest are created again.
const CALLERS_OF_MAX = 10_000;
const USER_CHARS_MAX = 1_024;

/** Creates the callers of people, and again when the roles have changed. @param current the roles that count now */
export function createPeopleCallers(current: () => Roles) {
  const known = new LRUCache<string, CallerOf>({ max: CALLERS_OF_MAX });
  let roles = current();

  function find(name: string, create: (roles: Roles) => CallerOf): CallerOf {
    if (roles !== current()) known.clear();
    roles = current();
    const of = known.get(name) ?? create(roles);
    known.set(name, of);
    return of;
  }

  return {
    ofSession(
      { id: session, owner: id, name, claims = {}, hash: secret }: SessionRecord,
      url: string,
    ): Caller {
      const create = (roles: Roles) => createCallerOf({ id, name, claims }, roles, session);
      return find(`session\n${secret}`, create)(url);
    },
    /** @throws TailraceError `unauthorized` if a proxy's headers name nobody */
    ofProxy({ user, groups, url }: Proxied): Caller {
      const create = (roles: Roles) => createCallerOf(getProxied(user, groups), roles);
      return find(`proxy\n${user}\n${groups}`, create)(url);
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

/** @throws TailraceError `unauthorized` */
function getProxied(user: string, groups: string): Identity {
  const list = groups.split(',').map((group) => group.trim());
  const claims = { sub: user, preferred_username: user, groups: list.filter(Boolean) };
  const address = user.includes('@') ? { email: user, email_verified: true } : {};
  const isLong = user.length > USER_CHARS_MAX;
  const identity = isLong ? undefined : createIdentity('proxy', user, { ...claims, ...address });
  if (identity !== undefined) return identity;
  const message = `the proxy names a user of more than ${USER_CHARS_MAX} characters, or too many groups`;
  throw unauthorized(message, 'unknown');
}
