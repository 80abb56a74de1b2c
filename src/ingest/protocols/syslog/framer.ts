const NEWLINE = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const LENGTH_DIGITS_MAX = 8;

/**
 * Cuts the bytes of a connection into lines, framed by their length or by their end (RFC 6587); each line may be framed
 * differently.
 */
export interface Framer {
  /** Returns the lines that are whole. */
  push(chunk: Buffer): Buffer[];
  /** Returns the last line, if the sender did not end it. */
  end(): Buffer[];
}

/** @param onTooLong called for each line of more than `bytesMax` bytes, which is left out */
export function createFramer(bytesMax: number, onTooLong: () => void): Framer {
  let rest: Buffer = Buffer.alloc(0);
  /** Bytes at the start of `rest` that hold no end of a line: each byte is looked at once. */
  let searched = 0;
  /** What follows of a line that is too long: so many bytes, or all until its end. */
  let skipped: number | 'line' = 0;

  /** Returns where the skipped bytes end; the end of `bytes` if they go on. */
  function skip(bytes: Buffer): number {
    if (skipped === 'line') {
      const end = bytes.indexOf(NEWLINE);
      if (end === -1) return bytes.length;
      skipped = 0;
      return end + 1;
    }
    const end = Math.min(skipped, bytes.length);
    skipped -= end;
    return end;
  }

  /** Reads one line. @returns where the next one begins; `undefined` if this one is not whole */
  function read(bytes: Buffer, at: number, lines: Buffer[]): number | undefined {
    const counted = readLength(bytes, at);
    if (counted === 'unknown') return undefined;
    if (counted === undefined) return readToEnd(bytes, at, lines);
    const { start, end } = counted;
    if (end - start > bytesMax) {
      onTooLong();
      skipped = Math.max(0, end - bytes.length);
      return Math.min(end, bytes.length);
    }
    if (end > bytes.length) return undefined;
    lines.push(bytes.subarray(start, end));
    return end;
  }

  function readToEnd(bytes: Buffer, at: number, lines: Buffer[]): number | undefined {
    const end = bytes.indexOf(NEWLINE, Math.max(at, searched));
    if ((end === -1 ? bytes.length : end) - at > bytesMax) {
      onTooLong();
      if (end === -1) skipped = 'line';
    } else if (end === -1) {
      searched = bytes.length - at;
      return undefined;
    } else lines.push(bytes.subarray(at, end));
    return end === -1 ? bytes.length : end + 1;
  }

  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const lines: Buffer[] = [];
      let at = skip(bytes);
      for (;;) {
        while (bytes[at] === NEWLINE) at++;
        const next = at < bytes.length ? read(bytes, at, lines) : undefined;
        if (next === undefined) break;
        at = next;
        searched = 0;
      }
      rest = bytes.subarray(at);
      return lines;
    },
    end: () => (rest.length > 0 ? [rest] : []),
  };
}

/** Reads the length before a line; `undefined` if it has none, `unknown` if its digits are not whole. */
function readLength(bytes: Buffer, at: number): { start: number; end: number } | 'unknown' | undefined {
  let digits = at;
  while (digits < bytes.length && digits - at < LENGTH_DIGITS_MAX && isDigit(bytes[digits])) digits++;
  if (digits === at || bytes[at] === ZERO) return undefined;
  if (digits === bytes.length) return 'unknown';
  if (bytes[digits] !== SPACE) return undefined;
  const start = digits + 1;
  return { start, end: start + Number(bytes.toString('latin1', at, digits)) };
}

const isDigit = (byte = 0) => byte >= ZERO && byte <= ZERO + 9;
