import { isUtf8 } from 'node:buffer';

/** Stands for bytes that are not UTF-8. */
export const REPLACEMENT = '\ufffd';

/** Returns UTF-8 without the byte order mark that some programs write before it, Windows' above all (RFC 8259, 8.1). */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * Detects by their first bytes what bytes are instead of UTF-8: they cannot be read at all then. `undefined` if they
 * are UTF-8, or text with some bytes of another encoding, which `toString` replaces by U+FFFD.
 */
export function findOtherEncoding(bytes: Buffer): 'gzip' | 'UTF-16' | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return mark === 0xfffe || mark === 0xfeff ? 'UTF-16' : undefined;
}

/** Decodes bytes as text, with U+FFFD for those that are not UTF-8. */
export function decodeText(bytes: Buffer): { readonly text: string; readonly isRepaired: boolean } {
  return { text: bytes.toString(), isRepaired: !isUtf8(bytes) };
}
