import { uncompressSync } from 'snappy';
import { TailraceError } from '../../errors.ts';

/**
 * Decompresses a block of Snappy. Its head says how many bytes it becomes, for which memory is taken before a byte is read.
 *
 * @throws TailraceError `body_too_large` beyond `bytesMax`, `invalid_request` if the bytes are not Snappy, or of
 *   another length than they say
 */
export function decompressSnappy(bytes: Uint8Array, bytesMax: number): Buffer {
  const length = readLength(bytes);
  if (length === undefined || length > bytes.length * GROWTH_MAX) throw invalid(undefined);
  if (length > bytesMax)
    throw new TailraceError('body_too_large', `the body is larger than ${bytesMax} bytes when decompressed`);
  try {
    return uncompressSync(bytes, { asBuffer: true }) as Buffer; // of `asBuffer`
  } catch (cause) {
    throw invalid(cause);
  }
}

// Three bytes become at most 64.
const GROWTH_MAX = 22;

/** Returns how many bytes a block says that it becomes; `undefined` without a head. */
export function readLength(bytes: Uint8Array): number | undefined {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  return undefined;
}

function invalid(cause: unknown): TailraceError {
  const message = 'the body is not a block of Snappy, or ends too soon';
  return new TailraceError('invalid_request', message, { cause });
}
