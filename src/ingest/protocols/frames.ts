import { TailraceError } from '../../errors.ts';

const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const LENGTH_DIGITS_MAX = 8;

/** Reads frames of RFC 6587, each with its length in bytes before it. @throws TailraceError `invalid_request` */
export function* readFrames(bytes: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const frame = findFrame(bytes, at);
    if (frame === undefined)
      throw new TailraceError(
        'invalid_request',
        'the body is not a sequence of frames, each after its length',
      );
    yield bytes.subarray(frame.start, frame.end);
    at = frame.end;
  }
}

/** Counts frames, up to the first that has no length or goes beyond the end. */
export function countFrames(bytes: Uint8Array): number {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let frame = findFrame(all, 0); frame !== undefined; frame = findFrame(all, frame.end)) count++;
  return count;
}

function findFrame(bytes: Buffer, at: number): { readonly start: number; readonly end: number } | undefined {
  const space = findLengthEnd(bytes, at);
  if (space === undefined) return undefined;
  const end = space + 1 + Number(bytes.toString('latin1', at, space));
  return end <= bytes.length ? { start: space + 1, end } : undefined;
}

/** Finds the space behind the digits of a length. By bytes, since a body may be thousands of empty frames. */
function findLengthEnd(bytes: Buffer, from: number): number | undefined {
  for (let at = from; at <= from + LENGTH_DIGITS_MAX; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === SPACE && at > from) return at;
    if (byte < ZERO || byte > NINE) return undefined;
  }
  return undefined;
}

/** Names of severities, by the lowest three bits of a priority. */
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

export function severityOf(priority: number): (typeof SEVERITIES)[number] {
  return SEVERITIES[priority % SEVERITIES.length] ?? 'debug';
}
