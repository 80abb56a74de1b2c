import { LRUCache } from 'lru-cache';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import type { Config } from '../config/config.ts';
import { splitAccount } from '../config/url.ts';
import { messageOf, TailraceError } from '../errors.ts';
import type { Claims } from '../keys/session-store.ts';
import { isObject } from '../lib/json.ts';

/** The secrets of one sign-in (`verifier`: PKCE). The browser keeps them, sealed, while it is at the provider. */
export type LoginSecrets = Readonly<Record<'state' | 'nonce' | 'verifier', string>>;

/** A person whom the provider has signed in. */
export type SignedIn = { readonly issuer: string; readonly subject: string; readonly claims: Claims };

export type Provider = ReturnType<typeof createProvider>;

// Some providers name groups only if they are asked for, and others reject scopes that they do not know.
const SCOPES = 'openid profile email';
const TIMEOUT_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 60;
const DESCRIPTION_PATH = '/.well-known/openid-configuration';
const DESCRIPTION_MS = 300_000;
const UNAVAILABLE =
  'the provider that signs people in does not respond as it should; try again, or sign in with a key';

/**
 * The provider of OpenID Connect. Its description is read by a sign-in and kept for five minutes, so the service starts
 * while it is unavailable; its keys are read by each, so they may be replaced at any time.
 * @param redirectUrl where the provider sends browsers back to
 */
export function createProvider(
  { oidcIssuer: issuer, oidcClient }: Pick<Config, 'oidcIssuer' | 'oidcClient'>,
  redirectUrl: string,
  now: () => number,
) {
  const { user: clientId, password: secret } = splitAccount(oidcClient);
  const descriptions = new LRUCache<string, string>({
    ...{ max: 1, ttl: DESCRIPTION_MS, ttlResolution: 0, perf: { now } },
  });

  /** Answers the library's request for the description from memory. */
  const fetchKept: CustomFetch = async (url, options) => {
    const kept = descriptions.get(url);
    if (kept !== undefined) return new Response(kept, { headers: { 'content-type': 'application/json' } });
    const response = await fetch(url, options as RequestInit); // as the library itself does
    if (url.endsWith(DESCRIPTION_PATH) && response.ok) descriptions.set(url, await response.clone().text());
    return response;
  };

  /** @throws TailraceError `engine_unavailable` if the provider cannot be reached, or names another issuer */
  async function configure(): Promise<Configured> {
    const client = await import('openid-client'); // loaded only if it is used
    const authenticate: ClientAuth = (provider, ...rest) => {
      const methods = provider.token_endpoint_auth_methods_supported ?? [];
      const inBody = methods.includes('client_secret_post');
      (inBody ? client.ClientSecretPost : client.ClientSecretBasic)(secret)(provider, ...rest);
    };
    const tolerance = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    // Otherwise the signature of an ID token that came over TLS would not be checked.
    const execute = [client.enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
    const options = { execute, timeout: TIMEOUT_SECONDS, [client.customFetch]: fetchKept };
    try {
      const found = await client.discovery(new URL(issuer), clientId, tolerance, authenticate, options);
      return { client, configuration: found };
    } catch (cause) {
      descriptions.clear();
      throw new TailraceError('engine_unavailable', UNAVAILABLE, { cause });
    }
  }

  return {
    /** Asks the provider for its endpoints. @throws TailraceError `engine_unavailable` */
    check: async () => void (await configure()),
    /** Returns the page of the provider on which a person signs in. @throws TailraceError `engine_unavailable` */
    async begin(): Promise<{ url: string; secrets: LoginSecrets }> {
      const { client, configuration } = await configure();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const verifier = client.randomPKCECodeVerifier();
      const isOffered = configuration.serverMetadata().scopes_supported?.includes('groups') === true;
      const challenge = await client.calculatePKCECodeChallenge(verifier);
      const url = client.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUrl, scope: isOffered ? `${SCOPES} groups` : SCOPES, state, nonce },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      return { url: url.href, secrets: { state, nonce, verifier } };
    },
    /**
     * Exchanges the code in the query string of an authorization response for the claims of the person. Checks state,
     * issuer, PKCE, nonce, audience, times and signature. @throws TailraceError `engine_unavailable`; the failure of a check
     */
    async finish(search: string, secrets: LoginSecrets): Promise<SignedIn> {
      const configured = await configure();
      try {
        return await exchange(configured, new URL(`${redirectUrl}${search}`), secrets);
      } catch (error) {
        // Its description may have changed, or it may be unavailable.
        descriptions.clear();
        await configure();
        throw error;
      }
    },
    /** Returns the page of the provider that signs a person out; `undefined` if it has none. */
    async findSignOutUrl(returnTo: string): Promise<string | undefined> {
      const { client, configuration } = await configure();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
    },
  };
}

interface Configured {
  readonly client: typeof import('openid-client');
  readonly configuration: Configuration;
}

async function exchange(
  { client, configuration }: Configured,
  callback: URL,
  { state, nonce, verifier }: LoginSecrets,
): Promise<SignedIn> {
  const tokens = await client.authorizationCodeGrant(configuration, callback, {
    ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('the provider has sent no ID token');
  // Some providers name groups only here.
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  const { access_token: token } = tokens;
  const more: Claims = hasMore ? await client.fetchUserInfo(configuration, token, claims.sub) : {};
  // The user info says whether its own address is verified.
  const isOther = claims['email'] !== undefined && claims['email'] !== more['email'];
  const unverified = isOther ? { email_verified: undefined } : {};
  return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...unverified, ...claims } };
}

const REASON_CHARS_MAX = 1_000;

/** Says for the log why a sign-in has failed, with the causes. Neither secrets nor claims are in it. */
export function explain(error: unknown): string {
  return findReasons(error).join(': ').slice(0, REASON_CHARS_MAX);
}

function findReasons(error: unknown): readonly string[] {
  if (error instanceof Response) return [`HTTP status ${error.status}`];
  if (!(error instanceof Error)) return findDetails(error);
  return error.cause === undefined ? [messageOf(error)] : [messageOf(error), ...findReasons(error.cause)];
}

/** What the library gives as the cause of a rejected response. */
function findDetails(cause: unknown): readonly string[] {
  if (cause instanceof URLSearchParams) return findDetails(Object.fromEntries(cause));
  if (!isObject(cause)) return [];
  const { error, error_description: description, expected, body, attribute, claim } = cause;
  if (typeof error === 'string') return [error, description].filter((one) => typeof one === 'string');
  if (attribute === 'issuer' && isObject(body))
    return [`TAILRACE_OIDC_ISSUER is ${String(expected)}, and the provider names ${String(body['issuer'])}`];
  return typeof claim === 'string' ? [`claim ${claim}`] : [];
}
