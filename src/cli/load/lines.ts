import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { InputError, messageOf } from '../../errors.ts';
import { EVENT_BYTES_MAX } from '../../ingest/event.ts';
import { type Line, readLines } from '../../ingest/lines.ts';
import { decodeText, findOtherEncoding } from '../../ingest/utf8.ts';
import { replaceFile } from '../../lib/file.ts';

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
  /** For loads that can go on where they ended. */
  readonly resume?: Checkpoints | undefined;
  /** Called for a line with bytes that are not UTF-8; they are replaced by U+FFFD. */
  readonly onRepaired: (line: number) => void;
  /** Called every few thousand lines, and when the stream breaks. */
  readonly onProgress: (progress: LoadProgress) => void;
}

/** Where a load can go on. */
export interface Checkpoints {
  /** The line after which to begin. */
  readonly after: number;
  readonly everyLines: number;
  /** Called when the lines up to this one are stored, and none after it. */
  readonly reached: (line: number) => void;
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
  const { resume } = options;
  const read = { bytesRead: 0, line: 0 };
  let checked = 0;
  const progress = () => ({ stored: sink.stored, ...read });

  // At the same lines however often a load begins anew, so that batches hold the same lines, too.
  async function check({ after, everyLines, reached }: Checkpoints, number: number): Promise<void> {
    const passed = Math.floor((number - 1) / everyLines) * everyLines;
    if (passed <= Math.max(after, checked)) return;
    await sink.flush();
    checked = passed;
    reached(passed);
  }

  async function take({ number, bytes }: Line): Promise<void> {
    if (resume !== undefined) await check(resume, number);
    read.line = number;
    read.bytesRead += (bytes?.length ?? 0) + 1;
    if (number <= (resume?.after ?? 0)) return;
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
    resume?.reached(Math.max(read.line, resume.after));
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

/** How far one load got, in a file beside it. */
export interface Resume {
  /** Begins an input: where to go on, and the names of its batches. */
  begin(input: string): { readonly resume: Checkpoints; readonly nextToken: () => string };
}

// So often is everything stored that was read; a load that begins anew reads at most as many lines again.
export const CHECKPOINT_LINES = 10_000;

const STATE = Type.Object({
  id: Type.String(),
  source: Type.String(),
  lines: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});

interface State {
  readonly id: string;
  readonly source: string;
  readonly lines: Readonly<Record<string, number>>;
}

/**
 * Opens the file of `--resume`, which is created if it is missing.
 *
 * @throws InputError if it is another file, or of a load into another source
 */
export function openResume(path: string, source: string): Resume {
  const file = resolve(path);
  let state = readState(file) ?? { id: randomUUID(), source, lines: {} };
  if (state.source !== source)
    throw new InputError([
      `${path}: is of a load into ${state.source}, not ${source}; name another file with --resume`,
    ]);
  const nameOf = (input: string) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(input) ? input : resolve(input));
  const save = (input: string, line: number) => {
    state = { ...state, lines: { ...state.lines, [nameOf(input)]: line } };
    replaceFile(file, `${JSON.stringify(state)}\n`);
  };
  return {
    begin(input) {
      const after = state.lines[nameOf(input)] ?? 0;
      let from = after;
      let batch = 0;
      const reached = (line: number) => {
        save(input, line);
        from = line;
        batch = 0;
      };
      save(input, after);
      return {
        resume: { after, everyLines: CHECKPOINT_LINES, reached },
        // The same for the same lines: a batch that was stored, but not written down here before a crash, is not stored
        // again.
        nextToken: () => hash('sha256', JSON.stringify([state.id, nameOf(input), from, batch++])),
      };
    },
  };
}

function readState(file: string): State | undefined {
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Check(STATE, state)) return state as State; // the type of its schema
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new InputError([`${file}: cannot be read as a file of --resume: ${messageOf(error)}`]);
  }
  throw new InputError([`${file}: is not a file of --resume; name one that is not there yet`]);
}
