import { once } from 'node:events';
import { createServer } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { CLIENT_ID, CLIENT_SECRET, freePort } from './oidc.ts';

/** What an ID token of the lying provider is like; each part has a right default. */
export interface Lie {
  readonly issuer?: string;
  readonly audience?: string;
  readonly nonce?: string;
  /** Seconds from now. */
  readonly expiresIn?: number;
  readonly issuedIn?: number;
  readonly sign?: 'none' | 'secret' | 'stranger' | 'key';
  /** The issuer that its own description names. */
  readonly described?: string;
  /** `iss` of the authorization response. */
  readonly iss?: string;
  /** Replaces the ID token; `undefined`: there is none. */
  readonly token?: (right: RightToken) => string | undefined | Promise<string | undefined>;
  /** Subject of the user info. */
  readonly infoOf?: string;
}

/** What a right ID token is made of. */
export interface RightToken {
  readonly claims: JWTPayload & { readonly nonce: string };
  readonly key: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** A provider that answers as the test says; it accepts any code, any number of times. */
export async function startLyingProvider() {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const own = await generateKeyPair('RS256');
  const stranger = await generateKeyPair('RS256');
  const lie: { now: Lie; nonce: string; codes: number } = { now: {}, nonce: '', codes: 0 };

  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '/', issuer)).then(
      (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  async function answer({ pathname }: URL): Promise<object> {
    if (pathname === '/.well-known/openid-configuration') return describe();
    if (pathname === '/jwks')
      return { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }] };
    if (pathname === '/me') return { sub: lie.now.infoOf ?? 'ada', groups: ['platform'] };
    lie.codes++;
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
    const {
      issuer: iss = issuer,
      audience = CLIENT_ID,
      nonce = lie.nonce,
      expiresIn = 60,
      issuedIn = 0,
      sign = 'key',
    } = lie.now;
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss,
      aud: audience,
      sub: 'ada',
      nonce,
      iat: nowSeconds + issuedIn,
      exp: nowSeconds + expiresIn,
    };
    if (lie.now.token !== undefined)
      return await lie.now.token({ claims, key: own.privateKey, publicKey: own.publicKey });
    if (sign === 'none') return new UnsecuredJWT(claims).encode();
    const keys = {
      key: own.privateKey,
      stranger: stranger.privateKey,
      secret: new TextEncoder().encode(CLIENT_SECRET),
    };
    const key: CryptoKey | Uint8Array = keys[sign];
    return await new SignJWT(claims)
      .setProtectedHeader({ alg: sign === 'secret' ? 'HS256' : 'RS256', kid: 'own' })
      .sign(key);
  }

  return {
    issuer,
    lie,
    /** The provider's page, as a person who is signed in there passes it. @returns where the browser goes next */
    pass(authorizationUrl: string, change: Readonly<Record<string, string>> = {}): string {
      const { searchParams } = new URL(authorizationUrl);
      lie.nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const sent = {
        code: 'a-code',
        state: searchParams.get('state') ?? '',
        iss: lie.now.iss ?? issuer,
        ...change,
      };
      for (const [name, value] of Object.entries(sent)) back.searchParams.set(name, value);
      return back.href;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
