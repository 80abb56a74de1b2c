import { isUtf8 } from 'node:buffer';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { parseEvent, RefusedEvent } from './event.ts';
import { type Line, readLines } from './lines.ts';
import { createEventWriter } from './writer.ts';

export interface LoadOptions {
  readonly eventBytesMax: number;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Aborting stops reading; what was read is stored. */
  readonly signal: AbortSignal;
  /** A line that is not stored, and why. */
  readonly onRejected: (line: number, reason: string) => void;
  /** Called every few thousand lines, and when the stream breaks. */
  readonly onProgress: (progress: LoadProgress) => void;
}

export interface LoadProgress {
  /** Events that are in the store. */
  readonly stored: number;
  readonly rejected: number;
  readonly bytesRead: number;
  /** The last line that was looked at. */
  readonly line: number;
}

const PROGRESS_LINES = 2_000;

/** Stores the events of an NDJSON stream, keeping the good lines and telling of each bad one. */
export async function loadEvents(
  engine: Engine,
  source: Source,
  stream: AsyncIterable<Buffer>,
  options: LoadOptions,
): Promise<LoadProgress> {
  const writer = createEventWriter(engine, source);
  const read = { rejected: 0, bytesRead: 0, line: 0 };
  const progress = () => ({ stored: writer.stored, ...read });

  async function take({ number, bytes }: Line): Promise<void> {
    read.line = number;
    read.bytesRead += (bytes?.length ?? 0) + 1;
    try {
      await writer.add(parseLine(bytes, source, options));
    } catch (error) {
      if (!(error instanceof RefusedEvent)) throw error;
      read.rejected++;
      options.onRejected(number, error.message);
    }
    if (number % PROGRESS_LINES === 0) options.onProgress(progress());
  }

  try {
    for await (const line of readLines(stream, options.eventBytesMax)) {
      if (options.signal.aborted) break;
      await take(line);
    }
  } catch (error) {
    // Aborting ends the stream with an error of its own. Any other break takes nothing with it: see `finally`.
    if (!options.signal.aborted) throw error;
  } finally {
    await writer.flush();
    options.onProgress(progress());
  }
  return progress();
}

/** What a line that is no text most likely is, told by how its file begins. */
function hintOf(bytes: Buffer): string {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return ': this is gzip; give the file a name that ends with .gz, or unpack it first';
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return mark === 0xfffe || mark === 0xfeff ? ': this is UTF-16; convert it first' : '';
}

function parseLine(bytes: Buffer | undefined, source: Source, { eventBytesMax, now }: LoadOptions) {
  if (bytes === undefined) throw new RefusedEvent(`is longer than ${eventBytesMax} bytes`);
  if (!isUtf8(bytes)) throw new RefusedEvent(`is not valid UTF-8${hintOf(bytes)}`);
  return parseEvent(bytes.toString(), source, { now: now() * MICROS_PER_MS, eventBytesMax });
}
