import { withoutMark } from './utf8.ts';

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
