import { createReadStream, ReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { InputError, messageOf } from '../../errors.ts';
import { DECOMPRESSORS, decompress } from '../../ingest/read-body.ts';
import { formatCounted } from '../format.ts';
import type { LoadProgress } from './lines.ts';

/** What `tailrace load` reads, as lines of NDJSON. */
export interface OpenInput {
  readonly name: string;
  readonly lines: Readable;
  /** The final value of `done`; 0 if unknown. */
  readonly total: number;
  /** How much of `total` has been read. */
  done(progress: LoadProgress): number;
  /** Returns a clearer error for one of reading. @param last how far it was read */
  explain(error: unknown, last: LoadProgress | undefined): unknown;
}

/**
 * Checks all names before the first is read.
 *
 * @returns opens one of them
 * @throws InputError with all faults
 */
export function createInputs(names: readonly string[], signal: AbortSignal): (name: string) => OpenInput {
  const faults: string[] = [];
  const files = names.filter((name) => name !== '-');
  const sizes = new Map(files.map((name) => [name, checkFile(name, faults)]));
  if (faults.length > 0) throw new InputError([...new Set(faults)]);
  const stdin = names.includes('-') ? openStdin(signal) : undefined;
  return (name) => openLines(name, { size: sizes.get(name) ?? 0, stdin, signal });
}

/** Returns the size of a file, in bytes. */
function checkFile(file: string, faults: string[]): number {
  try {
    const info = statSync(file);
    if (!info.isDirectory()) return info.size;
    faults.push(`${file}: is a folder; name its files`);
  } catch (error) {
    faults.push(`${file}: cannot be read: ${messageOf(error)}`);
  }
  return 0;
}

/** Opens standard input as a stream that `signal` ends, even while it waits for bytes. */
function openStdin(signal: AbortSignal): Readable {
  const { stdin } = process;
  const bytes = new PassThrough();
  stdin.once('error', (cause) =>
    bytes.destroy(new InputError([`standard input cannot be read: ${cause.message}`], { cause })),
  );
  const stop = () => {
    stdin.unpipe(bytes);
    bytes.end();
  };
  signal.addEventListener('abort', stop, { once: true });
  bytes.once('close', () => stdin.destroy()); // an open standard input would keep this process alive
  return stdin.pipe(bytes);
}

interface LinesOptions {
  readonly size: number;
  readonly stdin: Readable | undefined;
  readonly signal: AbortSignal;
}

/** Encodings of files by the ending of their names. */
const ENCODINGS: Readonly<Record<string, string>> = { '.gz': 'gzip', '.zst': 'zstd' };

function openLines(name: string, { size, stdin, signal }: LinesOptions): OpenInput {
  const raw =
    name === '-' && stdin !== undefined ? stdin : createReadStream(name, { highWaterMark: 1024 * 1024 });
  const encoding = ENCODINGS[extname(name)] ?? '';
  const create = DECOMPRESSORS[encoding];
  const stream = create === undefined ? raw : Readable.from(decompress(raw, create), { objectMode: false });
  raw.on('error', (error: Error) => stream.destroy(error)); // it may fail before it is read
  stream.on('error', () => {}); // its reader gets it
  const stop = () => {
    raw.destroy();
    stream.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  return {
    name,
    lines: stream,
    total: size,
    done: ({ bytesRead }) => (raw instanceof ReadStream ? raw.bytesRead : bytesRead),
    explain(error, last) {
      const isInput = raw.errored === error || stream.errored === error;
      return isInput && !(error instanceof InputError) ? unreadable(error, { name, encoding }, last) : error;
    },
  };
}

function unreadable(
  error: unknown,
  { name, encoding }: { readonly name: string; readonly encoding: string },
  last: LoadProgress | undefined,
): InputError {
  const { code } = error as { code?: string };
  const why = code?.startsWith('Z') ? `is not whole ${encoding}` : 'cannot be read'; // Z_… and ZSTD_…
  const { line = 0, stored = 0 } = last ?? {};
  const far = `it was read up to line ${line}, ${formatCounted(stored, 'event')} stored`;
  return new InputError([`${name}: ${why} (${messageOf(error)}); ${far}`]);
}
