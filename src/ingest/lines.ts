import { isUtf8 } from 'node:buffer';

/** A line of a stream: numbers count from 1; `bytes` is `undefined` if the line was too long to be read. */
export interface Line {
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

export const NEWLINE = 0x0a;

/**
 * Cuts a stream of bytes into lines in bounded memory. Empty lines are skipped; a last line without a newline counts.
 *
 * @param bytesMax longest line; of a longer one only the number is returned
 */
export async function* readLines(stream: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  const take = (last: Buffer): Line | undefined => {
    const whole = length + last.length;
    const all = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    const bytes = number === 1 ? withoutMark(all) : all;
    parts = [];
    length = 0;
    if (whole > bytesMax) return { number, bytes: undefined };
    return isBlank(bytes) ? undefined : { number, bytes };
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = take(chunk.subarray(start, end));
      if (line !== undefined) yield line;
      number++;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    // Past the bound only the length is counted, so that a file without newlines cannot fill the memory.
    if (length + rest.length <= bytesMax) parts.push(rest);
    else parts = [];
    length += rest.length;
  }
  const line = length > 0 ? take(Buffer.alloc(0)) : undefined;
  if (line !== undefined) yield line;
}

/** Whether a line is skipped. The same rule everywhere: `tailrace load --url` counts lines to say which were rejected. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

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
