import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import { InputError } from '../errors.ts';
import { closed } from '../lib/schema.ts';
import { compileSchema } from '../lib/schema-check.ts';
import { describeSystemFailure, toStartError } from '../lib/system-failure.ts';
import { type Grant, hashKey } from './grant.ts';

/** The claims of a signed token; src/keys/keyring.ts decides whether its key may still mint it. */
export interface SignedToken {
  readonly id: string;
  /** Id of the key that minted it. */
  readonly parent: string;
  /** A fingerprint of that key: a key of the environment may be replaced under the same id. */
  readonly parentPrint: string;
  readonly expiresMs: number;
  /** As JSON. */
  readonly grant: unknown;
}

export type Tokens = ReturnType<typeof createTokens>;

/** The claims of a token, or why it is rejected. */
export type ReadToken = SignedToken | { readonly reason: 'expired' | 'unknown' };

const ISSUER = 'tailrace';
const ALGORITHM = 'HS256';
// A front end sends one token many times: its signature is verified once, then only the hash of the text is compared.
const KNOWN_MAX = 10_000;
const PRINT_BYTES = 12;

/** The first sixteen bytes of any token: base64url of `{"alg":"HS256"`. A key begins with `tr_`. */
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

export function looksLikeToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Signed tokens (HS256). With the secret any token can be minted, so it is protected like the keys.
 * @param options `secret`: at least 32 bytes; `now`: ms since the epoch
 */
export function createTokens({ secret, now }: { readonly secret: Uint8Array; readonly now: () => number }) {
  const key = createSecretKey(secret);
  const known = new LRUCache<string, SignedToken>({ max: KNOWN_MAX });

  async function verify(text: string): Promise<ReadToken> {
    const { errors, jwtVerify } = await import('jose'); // loaded only if it is used
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
    /**
     * Returns a fingerprint of a key's hash, keyed with the secret of tokens: without it the holder of a token could
     * guess a weak key of the environment offline.
     */
    print(hash: Uint8Array): string {
      const mac = createHmac('sha256', key).update('tailrace key\0'); // no token's signature covers such a text
      return mac.update(hash).digest().subarray(0, PRINT_BYTES).toString('base64url');
    },
    /** @returns the token: a JSON Web Token, signed with HS256 */
    async mint({ parent, parentPrint, expiresMs, grant }: Omit<SignedToken, 'id'>) {
      const { SignJWT } = await import('jose');
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
    /** Returns the claims of a token that we signed and that has not expired. A promise only if it is new. */
    read(text: string): ReadToken | Promise<ReadToken> {
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

export const TOKEN_SCOPES = ['query', 'ingest'] as const;

/** The rights of a signed token. It always expires and never manages: tokens are for front ends. */
export interface TokenGrant extends Grant {
  readonly scopes: readonly (typeof TOKEN_SCOPES)[number][];
  readonly expiresMs: number;
}

const NAMES = Type.Optional(Type.Array(Type.String()));
/** Whether this version knows the grant in a token: one that another version wrote may have limits unknown to this one. */
export const isTokenGrant = compileSchema(
  closed({
    scopes: Type.Array(Type.Enum([...TOKEN_SCOPES])),
    endpoints: NAMES,
    sources: NAMES,
    pins: Type.Record(Type.String(), Type.String()),
    rate: Type.Optional(Type.Object({ perSecond: Type.Number(), burst: Type.Number() })),
  }),
);

/** In the data directory. */
export const SECRET_FILE = 'token.secret';
const SECRET_BYTES = 32;

/**
 * Returns the secret that signs tokens: that of the settings, or one that is created once for the data directory, in
 * a file that only its owner can read. Deleting the file voids all tokens.
 * @param setting empty if not set; the text of such a file is the same secret, so that tokens outlive a move
 * @throws InputError if the file cannot be read or created, TransientError if that may pass
 */
export function openTokenSecret(dataDir: string, setting: string): Uint8Array {
  if (setting !== '') {
    const decoded = Buffer.from(setting, 'base64url');
    const isOfFile = decoded.length === SECRET_BYTES && decoded.toString('base64url') === setting;
    return isOfFile ? decoded : Buffer.from(setting);
  }
  const file = join(dataDir, SECRET_FILE);
  try {
    createSecret(file);
    const secret = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
    if (secret.length === SECRET_BYTES) return secret;
  } catch (error) {
    throw toStartError(`the secret of tokens ${file} cannot be read: ${describeSystemFailure(error)}`, error);
  }
  const fault = `the secret of tokens ${file} is damaged: it must hold ${SECRET_BYTES} bytes in base64url`;
  throw new InputError([`${fault}; delete it to get a new one, which voids all tokens`]);
}

/** Writes a new secret, unless the file exists. */
function createSecret(file: string): void {
  const text = `${randomBytes(SECRET_BYTES).toString('base64url')}\n`;
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    rmSync(file, { force: true }); // on a full disk it is empty, which the next start would report as damaged
    throw error;
  }
}
