import { once } from 'node:events';
import { createServer } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { CLIENT_ID, freePort } from './oidc.ts';

/** In what the responses of the lying provider differ from right ones. */
export interface Lie {
  readonly token?: Forge;
  /** The issuer that its own description names. */
  readonly described?: string;
  /** `iss` of the authorization response. */
  readonly iss?: string;
  /** Claims of the user info. */
  readonly info?: object;
}

/** What a right ID token is made of. */
interface RightToken {
  readonly claims: JWTPayload & { readonly nonce: string };
  readonly key: CryptoKey;
}

/** Creates an ID token; `undefined`: there is none. */
type Forge = (right: RightToken) => string | undefined | Promise<string | undefined>;

export const HEADER = { alg: 'RS256', kid: 'own' };

/** An ID token with other claims, but a right signature. `undefined` removes a claim. */
export const withClaims =
  (change: (right: RightToken['claims']) => object): Forge =>
  ({ claims, key }) =>
    new SignJWT({ ...claims, ...change(claims) } as JWTPayload).setProtectedHeader(HEADER).sign(key);

const signRight = withClaims(() => ({}));

/** A provider that answers as the test says; it accepts any code, any number of times. */
export async function startLyingProvider() {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  let { privateKey: key, publicKey } = await generateKeyPair('RS256');
  const lie: { now: Lie; nonce: string } = { now: {}, nonce: '' };
  const asked: string[] = [];

  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '/', issuer)).then(
      (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');

  async function answer({ pathname }: URL): Promise<object> {
    asked.push(pathname);
    if (pathname === '/.well-known/openid-configuration') return describe();
    if (pathname === '/jwks') return { keys: [{ ...(await exportJWK(publicKey)), ...HEADER, use: 'sig' }] };
    if (pathname === '/me') return { sub: 'ada', groups: ['platform'], ...lie.now.info };
    return { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: await createIdToken() };
  }

  function describe(): object {
    return {
      issuer: lie.now.described ?? issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/me`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    };
  }

  async function createIdToken(): Promise<string | undefined> {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: CLIENT_ID, sub: 'ada', nonce: lie.nonce, iat, exp: iat + 600 };
    return await (lie.now.token ?? signRight)({ claims, key });
  }

  return {
    issuer,
    lie,
    /** The paths of all requests. */
    asked,
    /** The provider's page, as a person who is signed in there passes it. @returns where the browser goes next */
    pass(authorizationUrl: string, change: Readonly<Record<string, string>> = {}): string {
      const { searchParams } = new URL(authorizationUrl);
      lie.nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const state = searchParams.get('state') ?? '';
      const sent = { code: 'a-code', state, iss: lie.now.iss ?? issuer, ...change };
      for (const [name, value] of Object.entries(sent)) back.searchParams.set(name, value);
      return back.href;
    },
    /** Replaces the key that signs. */
    async rotateKey() {
      ({ privateKey: key, publicKey } = await generateKeyPair('RS256'));
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
