import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { InputError, messageOf } from '../../errors.ts';
import { findOtherEncoding, isBlank, NEWLINE, withoutMark } from '../../ingest/body-format.ts';
import { EVENT_BYTES_MAX } from '../../ingest/event.ts';
import { DECOMPRESSORS, decompress } from '../../ingest/read-body.ts';

export interface FileLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Whether U+FFFD stands for bytes of it that are not UTF-8. */
  readonly isRepaired?: boolean;
  /** Why it cannot be read; the text is then empty. */
  readonly fault?: string;
}

/**
 * Cuts a stream of bytes into lines in bounded memory. Empty lines are skipped; a last line without a newline counts.
 *
 * @param bytesMax longest line that is read
 */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  bytesMax = EVENT_BYTES_MAX,
): AsyncGenerator<FileLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  const take = (last: Buffer): FileLine | undefined => {
    const whole = length + last.length;
    const all = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    const bytes = number === 1 ? withoutMark(all) : all;
    parts = [];
    length = 0;
    if (whole > bytesMax) return { number, text: '', fault: `is longer than ${bytesMax} bytes` };
    return isBlank(bytes) ? undefined : { number, ...decode(bytes) };
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

const HINTS = {
  gzip: 'this is gzip; give the file a name that ends with .gz, or unpack it first',
  'UTF-16': 'this is UTF-16; convert it first',
};

function decode(bytes: Buffer) {
  const other = findOtherEncoding(bytes);
  if (other !== undefined) return { text: '', fault: `is not UTF-8: ${HINTS[other]}` };
  return { text: bytes.toString(), isRepaired: !isUtf8(bytes) };
}

/**
 * Returns the size of each file, in bytes; 0 for `-`, standard input.
 *
 * @throws InputError with a fault for each that cannot be read
 */
export function checkFiles(names: readonly string[]): ReadonlyMap<string, number> {
  const faults: string[] = [];
  const sizeOf = (file: string) => {
    try {
      const info = statSync(file);
      if (info.isDirectory()) faults.push(`${file}: is a folder; name its files`);
      return info.size;
    } catch (error) {
      faults.push(`${file}: cannot be read: ${messageOf(error)}`);
      return 0;
    }
  };
  const sizes = [...new Set(names)].map((name) => [name, name === '-' ? 0 : sizeOf(name)] as const);
  if (faults.length > 0) throw new InputError(faults);
  return new Map(sizes);
}

/** Encodings of files by the ending of their names. */
const ENCODINGS: Readonly<Record<string, string>> = { '.gz': 'gzip', '.zst': 'zstd' };

export function openInput(name: string, signal: AbortSignal) {
  // An open standard input would keep this process alive: like a file it is destroyed at its end.
  const file = name === '-' ? undefined : createReadStream(name, { highWaterMark: 1024 * 1024 });
  const raw: Readable = file ?? process.stdin;
  const encoding = ENCODINGS[extname(name)] ?? '';
  const create = DECOMPRESSORS[encoding];
  const bytes = create === undefined ? raw : Readable.from(decompress(raw, create), { objectMode: false });
  raw.on('error', (error: Error) => bytes.destroy(error)); // it may fail before it is read
  bytes.on('error', () => {}); // its reader gets it
  const stop = () => {
    raw.destroy();
    bytes.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  return {
    /** The decompressed bytes. `signal` ends them with an error, even while they wait for more. */
    bytes,
    /** Returns how many bytes of the file have been read. */
    bytesRead: () => file?.bytesRead ?? 0,
    /** Says why `bytes` failed. */
    explain(error: unknown): string {
      const { code } = error as { code?: string };
      const why = code?.startsWith('Z') ? `is not whole ${encoding}` : 'cannot be read'; // Z_… and ZSTD_…
      return `${file === undefined ? 'standard input' : name}: ${why} (${messageOf(error)})`;
    },
  };
}
