import { Readable } from 'node:stream';
import { decodeText, findOtherEncoding, type Line, readLines } from '../../ingest/body-format.ts';
import { EVENT_BYTES_MAX } from '../../ingest/event.ts';

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
  /** Of a dry run: to how many lines each rule of the source applied; empty if to none. */
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
    const { text, isRepaired } = decodeText(bytes);
    if (isRepaired) options.onRepaired(number);
    await sink.add(number, text);
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

function commitRegularly(
  sink: LineSink,
  everyMs: number | undefined,
  onFailure: (error: Error) => void,
): () => void {
  if (everyMs === undefined) return () => {};
  const timer = setInterval(() => void sink.flush().catch(onFailure), everyMs);
  return () => clearInterval(timer);
}
