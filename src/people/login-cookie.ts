import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { LoginSecrets } from './provider.ts';

/** A sign-in that has begun. */
export interface Login extends LoginSecrets {
  /** The path to which the browser returns. */
  readonly to: string;
}

/** How long a person may take at the provider. */
export const LOGIN_SECONDS = 600;

const KEY_BYTES = 32;
const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * Seals a sign-in for the browser that has begun it, so that requests without a session store nothing, and any replica can finish it.
 *
 * @param secret that of tokens
 */
export function createLoginSeal(secret: Uint8Array, now: () => number) {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'tailrace sign-in', KEY_BYTES));
  return {
    async seal({ state, nonce, verifier, to }: Login): Promise<string> {
      return await new EncryptJWT({ state, nonce, verifier, to })
        .setProtectedHeader(ALGORITHMS)
        .setExpirationTime(Math.floor(now() / 1000) + LOGIN_SECONDS)
        .encrypt(key);
    },
    /** @returns `undefined` if it is not sealed by this service, or has expired */
    async open(text: string): Promise<Login | undefined> {
      try {
        const { payload } = await jwtDecrypt(text, key, {
          keyManagementAlgorithms: [ALGORITHMS.alg],
          contentEncryptionAlgorithms: [ALGORITHMS.enc],
          currentDate: new Date(now()),
          requiredClaims: ['exp', 'state', 'nonce', 'verifier', 'to'],
        });
        const { state, nonce, verifier, to } = payload;
        return { state: String(state), nonce: String(nonce), verifier: String(verifier), to: String(to) };
      } catch {
        return undefined;
      }
    },
  };
}
