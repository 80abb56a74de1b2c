import { hash } from 'node:crypto';
import { TailraceError } from '../errors.ts';
import { type Acting, actorOf } from '../keys/audit.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { hashKey, sameHash } from '../keys/grant.ts';
import type { Caller, Keyring } from '../keys/keyring.ts';
import { networkOf } from '../lib/network.ts';
import { createBuckets } from '../lib/token-bucket.ts';
import type { createLoginSeal, Login } from './credential.ts';
import type { Provider, SignedIn } from './provider.ts';
import { createIdentity } from './role.ts';
import type { NewSession, Sessions } from './sessions.ts';

/** Why a sign-in has failed; the console says what to do. */
export type SignInFault = 'unavailable' | 'elsewhere' | 'expired' | 'refused' | 'failed' | 'claims' | 'limit';

/** The browser that signs in. */
export type Client = Pick<NewSession, 'address' | 'agent' | 'replaces'>;

interface SignInParts {
  /** `undefined`: there is none. */
  readonly provider: Provider | undefined;
  readonly sessions: Pick<Sessions, 'open' | 'endOwn'>;
  readonly seal: ReturnType<typeof createLoginSeal>;
  readonly keyring: Pick<Keyring, 'hold' | 'countRejected'>;
  readonly control: Pick<ControlStore, 'record'>;
  /** Called with the reason why a sign-in has failed. */
  readonly onFailure: (error: unknown) => void;
  /** ms since the epoch. */
  readonly now: () => number;
}

export type SignIn = ReturnType<typeof createSignIn>;

/** Signs people in at the provider, and keys into the console. Each sign-in and sign-out is in the audit trail. */
export function createSignIn(parts: SignInParts) {
  const { control, now } = parts;
  const buckets = createBuckets(now);
  const passes = (address: string) => buckets.take(networkOf(address), SIGN_INS).passed;
  const record = async (action: 'signed_in' | 'signed_out', by: Acting, detail = '') => {
    const keyId = by.person === undefined ? by.keyId : '';
    await control.record([{ action, atMs: now(), keyId, detail, count: 1, ...actorOf(by) }]);
  };
  const steps = { ...parts, passes, record };
  return { ...createPeopleSignIn(steps), ...createKeySignIn(steps) };
}

interface Steps extends SignInParts {
  /** Whether an address may sign in once more. */
  readonly passes: (address: string) => boolean;
  readonly record: (action: 'signed_in' | 'signed_out', by: Acting, detail?: string) => Promise<void>;
}

function createPeopleSignIn({ provider, sessions, seal, keyring, onFailure, passes, record }: Steps) {
  function getProvider(): Provider {
    if (provider !== undefined) return provider;
    throw new TailraceError('not_found', 'signing in is disabled: TAILRACE_OIDC_ISSUER is not set');
  }

  function fail(fault: SignInFault, address: string, error: unknown): SignInFault {
    keyring.countRejected('', 'sign_in', address);
    onFailure(typeof error === 'string' ? new Error(error) : error);
    return fault;
  }

  /** Opens the session of a person. @returns the value of the cookie, or why there is none */
  async function open({ issuer, subject, claims }: SignedIn, { state, to }: Login, client: Client) {
    const { address } = client;
    const identity = createIdentity(issuer, subject, claims);
    if (identity === undefined) return fail('claims', address, 'the claims are too long');
    const { id: keyId, ...person } = identity;
    const login = hash('sha256', state);
    const secret = await sessions.open({ owner: keyId, login, ...person, ...client });
    if (secret === undefined) return fail('expired', address, 'the sign-in was finished before');
    await record('signed_in', { keyId, person, address }, 'at the provider');
    return { secret, to };
  }

  return {
    /** @returns the page of the provider and the sealed sign-in, or why there is none */
    async begin(to: string, address: string): Promise<{ url: string; sealed: string } | SignInFault> {
      const { begin } = getProvider();
      if (!passes(address)) return 'limit';
      try {
        const { url, secrets } = await begin();
        return { url, sealed: await seal.seal({ ...secrets, to }) };
      } catch (error) {
        onFailure(error);
        return 'unavailable';
      }
    },
    /** Finishes a sign-in by the query string of the provider's redirect and the cookie of the sign-in. */
    async finish(search: string, sealed: string | undefined, client: Client) {
      const { finish } = getProvider();
      const { address } = client;
      if (!passes(address)) return 'limit';
      if (sealed === undefined)
        return fail('elsewhere', address, 'the browser has begun no sign-in at TAILRACE_PUBLIC_URL');
      const login = await seal.open(sealed);
      const state = new URLSearchParams(search).get('state') ?? '';
      // The browser has begun another sign-in since: the code may be that of somebody else.
      if (login === undefined || !sameHash(hashKey(state), hashKey(login.state)))
        return fail('expired', address, 'the sign-in is not that of this browser, or has expired');
      let signedIn: SignedIn;
      try {
        signedIn = await finish(search, login);
      } catch (error) {
        if (!(error instanceof TailraceError)) return fail(faultOf(error), address, error);
        onFailure(error);
        return 'unavailable';
      }
      return await open(signedIn, login, client);
    },
  };
}

/** Whether the provider has rejected the person, or its response has failed a check. */
function faultOf(error: unknown): SignInFault {
  return error instanceof Error && error.name === 'AuthorizationResponseError' ? 'refused' : 'failed';
}

function createKeySignIn({ provider, sessions, keyring, passes, record }: Steps) {
  return {
    /** Opens a session for an accepted key. @returns the value of the cookie @throws TailraceError `rate_limited` */
    async openForKey(caller: Caller, client: Client): Promise<string> {
      const tooMany = 'too many sign-ins came from this address';
      if (!passes(client.address))
        throw new TailraceError('rate_limited', tooMany, { retryAfterSeconds: 60 });
      const { keyId: owner, print } = await keyring.hold(caller);
      const secret = await sessions.open({ owner, name: owner, print, ...client });
      if (secret === undefined) throw new Error('a session of a key belongs to no sign-in');
      await record('signed_in', caller, 'with a key');
      return secret;
    },
    /** Ends the session of a cookie. @returns the page of the provider that signs the person out, if it has one */
    async signOut(secret: string, caller: Caller, returnTo: string): Promise<string | undefined> {
      const ended = await sessions.endOwn(secret);
      if (ended === undefined) return undefined;
      await record('signed_out', caller);
      // The session has ended already, whatever the provider does.
      return await (ended.claims && provider?.findSignOutUrl(returnTo).catch(() => undefined));
    },
  };
}

// Sign-ins from one address: far above an office behind one, and a provider is not asked more often.
const SIGN_INS = { perSecond: 1, burst: 60 };
