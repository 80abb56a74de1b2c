import type { Configuration, ServerMetadata } from 'openid-client';
import type { Config } from '../config/config.ts';
import { splitAccount } from '../config/url.ts';
import { TailraceError } from '../errors.ts';
import type { Claims } from '../keys/session-store.ts';

type ProviderSettings = Pick<Config, 'oidcIssuer' | 'oidcClient'>;

export interface ProviderOptions {
  readonly settings: ProviderSettings;
  /** Where the provider sends browsers back to. */
  readonly redirectUrl: string;
  /** Monotonic ms. */
  readonly ticks: () => number;
}

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
// Endpoints of a provider rarely change; its keys are read anew for each sign-in.
const METADATA_MS = 300_000;

/**
 * The provider of OpenID Connect. It is asked for its endpoints by the first sign-in, so that the service starts
 * while it is unavailable.
 */
export function createProvider({ settings, redirectUrl, ticks }: ProviderOptions) {
  const { oidcIssuer: issuer } = settings;
  const { user: clientId, password: secret } = splitAccount(settings.oidcClient);
  let kept: { readonly metadata: ServerMetadata; readonly atMs: number } | undefined;
  let reading: Promise<ServerMetadata> | undefined;

  async function discover(): Promise<ServerMetadata> {
    const client = await import('openid-client'); // loaded only if it is used
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
    const found = await client.discovery(new URL(issuer), clientId, undefined, undefined, {
      ...{ execute, timeout: TIMEOUT_SECONDS },
    });
    const metadata = found.serverMetadata();
    kept = { metadata, atMs: ticks() };
    return metadata;
  }

  /**
   * Reads the endpoints of the provider; those of before if it cannot be reached.
   *
   * @throws TailraceError `engine_unavailable`
   */
  async function readMetadata(): Promise<ServerMetadata> {
    if (kept !== undefined && ticks() - kept.atMs < METADATA_MS) return kept.metadata;
    reading ??= discover().finally(() => {
      reading = undefined;
    });
    try {
      return await reading;
    } catch (error) {
      if (kept !== undefined) return kept.metadata;
      throw unavailable(error);
    }
  }

  /** A new configuration has read no keys yet: those of the provider may have been replaced a moment ago. */
  async function configure() {
    const client = await import('openid-client');
    const metadata = await readMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? [];
    const authenticate = methods.includes('client_secret_post')
      ? client.ClientSecretPost
      : client.ClientSecretBasic;
    const tolerance = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const configuration = new client.Configuration(metadata, clientId, tolerance, authenticate(secret));
    configuration.timeout = TIMEOUT_SECONDS;
    // Otherwise the signature of an ID token that came over TLS would not be checked.
    client.enableNonRepudiationChecks(configuration);
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration);
    return { client, configuration };
  }

  return {
    issuer,
    /** Asks the provider for its endpoints. @throws TailraceError `engine_unavailable` */
    check: async () => void (await readMetadata()),
    createSecrets: async (): Promise<LoginSecrets> => {
      const { randomNonce, randomPKCECodeVerifier, randomState } = await import('openid-client');
      return { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    },
    /** Returns the page of the provider on which a person signs in. @throws TailraceError `engine_unavailable` */
    async findSignInUrl({ state, nonce, verifier }: LoginSecrets): Promise<string> {
      const { client, configuration } = await configure();
      const isOffered = configuration.serverMetadata().scopes_supported?.includes('groups') === true;
      const scope = isOffered ? `${SCOPES} groups` : SCOPES;
      const challenge = await client.calculatePKCECodeChallenge(verifier);
      return client.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUrl, scope, state, nonce },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      }).href;
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
      return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...claims } };
    },
    /** Returns the page of the provider that signs a person out; `undefined` if it has none. */
    async findSignOutUrl(returnTo: string): Promise<string | undefined> {
      if ((await readMetadata()).end_session_endpoint === undefined) return undefined;
      const { client, configuration } = await configure();
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

function unavailable(cause: unknown): TailraceError {
  const message =
    'the provider that signs people in does not respond as it should; try again, or sign in with a key';
  return new TailraceError('engine_unavailable', message, { cause });
}
