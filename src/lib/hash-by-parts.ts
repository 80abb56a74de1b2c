import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes hashed at once: more would block other requests for longer than a few milliseconds. */
export const HASHED_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the SHA-256 of many bytes. Other requests are served between its parts. */
export async function hashByParts(bytes: Buffer, encoding: 'base64url' | 'hex'): Promise<string> {
  const sha = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_BYTES_MAX) {
    sha.update(bytes.subarray(at, at + HASHED_BYTES_MAX));
    await nextTurn();
  }
  return sha.digest(encoding);
}
