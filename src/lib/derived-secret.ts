import { createHmac, hkdfSync } from 'node:crypto';

const SECRET_BYTES = 32;

/** A secret for one purpose, from which neither the first nor that of another purpose can be told (HKDF, RFC 5869). */
export function deriveSecret(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, SECRET_BYTES));
}

/** Names under which things stand where others may look: the same thing has the same name, which tells nothing of it. */
export type NameOf = (what: string) => string;

/** @param prefix what the names begin with, in clear */
export function createNames(secret: Uint8Array, prefix: string): NameOf {
  return (what) => prefix + createHmac('sha256', secret).update(what).digest('base64url');
}
