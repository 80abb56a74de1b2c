import { isUtf8 } from 'node:buffer';
import { createReadStream, ReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { InputError, messageOf } from '../../errors.ts';
import { findOtherEncoding, isBlank, NEWLINE, withoutMark } from '../../ingest/body-format.ts';
import { EVENT_BYTES_MAX } from '../../ingest/event.ts';
import { DECOMPRESSORS, decompress } from '../../ingest/read-body.ts';
import { formatCounted } from '../format.ts';

/** The target of a load: a service, or the rules of a source for a dry run. */
export interface LineSink {
  /** Adds a line; returns a promise only if it has to wait for earlier lines. Reports by itself what it rejects. */
  add(number: number, text: string): Promise<void> | undefined;
  /** Reports a line that cannot be added, in its place among those that the sink rejects. @returns as `add` */
  reject(number: number, reason: string): Promise<void> | undefined;
  /** Resolves when all good lines so far are stored. */
  flush(): Promise<void>;
  /** Number of stored lines. */
  readonly stored: number;
  /** Says to how many lines each rule of the source applied, as far as it is known; empty if to none. */
  describeFiltered?(): string;
}

export interface LoadOptions {
  /** Flushes the sink this often, for slow input; by default only full batches are sent. */
  readonly commitEveryMs?: number;
  /** Aborting stops reading; lines that were read are stored. */
  readonly signal: AbortSignal;
  /** Called for a line with bytes that are not UTF-8; they are replaced by U+FFFD. */
  readonly onRepaired: (line: number) => void;
  /** Called every few thousand lines, and when the stream breaks. */
  readonly onProgress: (progress: LoadProgress) => void;
}

export interface LoadProgress {
  /** Events that are in the store. */
  readonly stored: number;
  readonly bytesRead: number;
  /** Number of the last line that was read. */
  readonly line: number;
}

const PROGRESS_LINES = 2_000;

const HINTS = {
  gzip: 'this is gzip; give the file a name that ends with .gz, or unpack it first',
  'UTF-16': 'this is UTF-16; convert it first',
};

/**
 * Passes the lines of an NDJSON stream to a sink, which stores the good ones.
 *
 * @throws the error of the stream or the sink; lines that were read before are stored if the sink can
 */
export async function loadEvents(
  sink: LineSink,
  stream: Readable | AsyncIterable<Buffer>,
  options: LoadOptions,
): Promise<LoadProgress> {
  const read = { bytesRead: 0, line: 0 };
  const progress = () => ({ stored: sink.stored, ...read });

  async function take({ number, bytes }: Line): Promise<void> {
    read.line = number;
    read.bytesRead += (bytes?.length ?? 0) + 1;
    if (bytes === undefined) await sink.reject(number, `is longer than ${EVENT_BYTES_MAX} bytes`);
    else await takeText(number, bytes);
    if (number % PROGRESS_LINES === 0) options.onProgress(progress());
  }

  async function takeText(number: number, bytes: Buffer): Promise<void> {
    const other = findOtherEncoding(bytes);
    if (other !== undefined) return await sink.reject(number, `is not UTF-8: ${HINTS[other]}`);
    if (!isUtf8(bytes)) options.onRepaired(number);
    await sink.add(number, bytes.toString());
  }

  // A stream may be idle for hours: destroying it reports a failure at once.
  const stopCommits = commitRegularly(sink, options.commitEveryMs, (error) => {
    if (stream instanceof Readable) stream.destroy(error);
  });
  try {
    for await (const line of readLines(stream, EVENT_BYTES_MAX)) {
      if (options.signal.aborted) break;
      await take(line);
    }
  } catch (error) {
    // Aborting ends the stream with its own error. After any other error `finally` still stores what was read.
    if (!options.signal.aborted) throw error;
  } finally {
    stopCommits();
    await sink.flush();
    options.onProgress(progress());
  }
  return progress();
}

/** A line of a stream: numbers count from 1; `bytes` is `undefined` if the line was too long to be read. */
interface Line {
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

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

function commitRegularly(
  sink: LineSink,
  everyMs: number | undefined,
  onFailure: (error: Error) => void,
): () => void {
  if (everyMs === undefined) return () => {};
  const timer = setInterval(() => void sink.flush().catch(onFailure), everyMs);
  return () => clearInterval(timer);
}

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
