import { createHmac, createSecretKey, randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { hashKey } from './secret.ts';

/** What a signed token says; who may hold which is for src/keys/keyring.ts to decide. */
export interface Token {
  readonly id: string;
  /** Id of the key that minted it. */
  readonly parent: string;
  /** Tells that key from another that has its id by now, as one of the environment may. */
  readonly parentPrint: string;
  readonly expiresMs: number;
  /** What it may do, as JSON. */
  readonly grant: unknown;
}

export interface Tokens {
  /**
   * Enough of a key's hash to tell it from another that has its id. Only with the secret of tokens: who holds a token could
   * otherwise try which key of the environment, that a person thought of, has this hash.
   */
  print(hash: Uint8Array): string;
  /** @returns the token: a JSON Web Token, signed with HS256 */
  mint(token: Omit<Token, 'id'>): Promise<{ token: string; id: string }>;
  /** What a token says, if it is signed by us and has not expired; otherwise why not. A promise only if it was not verified before. */
  read(text: string): Token | Unreadable | Promise<Token | Unreadable>;
}

/** Why a token is not taken. */
export interface Unreadable {
  readonly reason: 'expired' | 'unknown';
}

export interface TokensOptions {
  /** At least 32 bytes. */
  readonly secret: Uint8Array;
  /** ms since the epoch. */
  readonly now: () => number;
}

const ISSUER = 'tailrace';
const ALGORITHM = 'HS256';
// A front end sends one token again and again: the signature is checked once, then only the hash of the text is compared.
const KNOWN_MAX = 10_000;
const PRINT_BYTES = 12;

/** The first sixteen bytes of any token: base64url of `{"alg":"HS256"`. A key begins with `tr_`. */
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

export function looksLikeToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Signed tokens (HS256): whoever has the secret can make any, so it is kept like the store of keys. */
export function createTokens({ secret, now }: TokensOptions): Tokens {
  const key = createSecretKey(secret);
  const known = new LRUCache<string, Token>({ max: KNOWN_MAX });

  async function verify(text: string): Promise<Token | Unreadable> {
    try {
      const { payload } = await jwtVerify(text, key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        currentDate: new Date(now()),
        requiredClaims: ['jti', 'sub', 'exp', 'key', 'grant'],
      });
      return {
        id: String(payload.jti),
        parent: String(payload.sub),
        parentPrint: String(payload['key']),
        expiresMs: Number(payload.exp) * 1000,
        grant: payload['grant'],
      };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { reason: 'expired' };
      if (error instanceof errors.JOSEError) return { reason: 'unknown' };
      throw error;
    }
  }

  return {
    print: (hash) =>
      createHmac('sha256', key)
        .update('tailrace key\0') // no signature of a token is over such a text
        .update(hash)
        .digest()
        .subarray(0, PRINT_BYTES)
        .toString('base64url'),
    async mint({ parent, parentPrint, expiresMs, grant }) {
      const id = randomUUID();
      const token = await new SignJWT({ key: parentPrint, grant })
        .setProtectedHeader({ alg: ALGORITHM })
        .setIssuer(ISSUER)
        .setSubject(parent)
        .setJti(id)
        .setIssuedAt(Math.floor(now() / 1000))
        .setExpirationTime(Math.floor(expiresMs / 1000))
        .sign(key);
      return { token, id };
    },
    read(text) {
      const print = hashKey(text).toString('base64');
      const kept = known.get(print);
      if (kept !== undefined) return kept.expiresMs > now() ? kept : { reason: 'expired' };
      return verify(text).then((token) => {
        if (!('reason' in token)) known.set(print, token);
        return token;
      });
    },
  };
}
