import type { ClientAuth, Configuration } from 'openid-client';
import type { Config } from '../config/config.ts';
import { splitAccount } from '../config/url.ts';
import { TailraceError } from '../errors.ts';
import type { Claims } from '../keys/session-store.ts';

type ProviderSettings = Pick<Config, 'oidcIssuer' | 'oidcClient'>;

/** The secrets of one sign-in. The browser keeps them, sealed, while it is at the provider. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** PKCE. */
  readonly verifier: string;
}

/** A person whom the provider has signed in. */
export interface SignedIn {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
}

export type Provider = ReturnType<typeof createProvider>;

// Some providers name groups only if they are asked for, and others reject scopes that they do not know.
const SCOPES = 'openid profile email';
const TIMEOUT_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 60;

/**
 * The provider of OpenID Connect. Each sign-in asks it for its endpoints and keys, so the service starts while it is
 * unavailable, and keys may be replaced at any time.
 *
 * @param redirectUrl where the provider sends browsers back to
 */
export function createProvider(settings: ProviderSettings, redirectUrl: string) {
  const { oidcIssuer: issuer } = settings;
  const { user: clientId, password: secret } = splitAccount(settings.oidcClient);

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
    const options = { execute, timeout: TIMEOUT_SECONDS };
    try {
      const found = await client.discovery(new URL(issuer), clientId, tolerance, authenticate, options);
      return { client, configuration: found };
    } catch (cause) {
      const message =
        'the provider that signs people in does not respond as it should; try again, or sign in with a key';
      throw new TailraceError('engine_unavailable', message, { cause });
    }
  }

  return {
    /** Asks the provider for its endpoints. @throws TailraceError `engine_unavailable` */
    check: async () => void (await configure()),
    /** Returns the page of the provider on which a person signs in. @throws TailraceError `engine_unavailable` */
    async begin(): Promise<{ readonly url: string; readonly secrets: LoginSecrets }> {
      const { client, configuration } = await configure();
      const { randomNonce, randomPKCECodeVerifier, randomState } = client;
      const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const { state, nonce, verifier } = secrets;
      const isOffered = configuration.serverMetadata().scopes_supported?.includes('groups') === true;
      const challenge = await client.calculatePKCECodeChallenge(verifier);
      const url = client.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUrl, scope: isOffered ? `${SCOPES} groups` : SCOPES, state, nonce },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      return { url: url.href, secrets };
    },
    /**
     * Exchanges the code of an authorization response for the claims of the person. Checks state, issuer, PKCE,
     * nonce, audience, times and signature.
     *
     * @param search the query string with which the provider has sent the browser back
     * @throws TailraceError `engine_unavailable`; the failure of a check
     */
    async finish(search: string, { state, nonce, verifier }: LoginSecrets): Promise<SignedIn> {
      const { client, configuration } = await configure();
      const tokens = await client.authorizationCodeGrant(configuration, new URL(`${redirectUrl}${search}`), {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the provider has sent no ID token');
      const more = await readUserInfo({ client, configuration }, tokens.access_token, claims.sub);
      // The user info says whether its own address is verified.
      const isOther = claims['email'] !== undefined && claims['email'] !== more['email'];
      const unverified = isOther ? { email_verified: undefined } : {};
      return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...unverified, ...claims } };
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

/** Some providers name groups only here. */
async function readUserInfo(
  { client, configuration }: Configured,
  token: string,
  subject: string,
): Promise<Claims> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return await client.fetchUserInfo(configuration, token, subject);
}
