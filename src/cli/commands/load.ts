import { createReadStream, ReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Source } from '../../definitions/source.ts';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import { type LoadProgress, loadEvents } from '../../ingest/load.ts';
import { openStore, type Store } from '../../open-store.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { createProgress, createRate } from '../progress.ts';
import { takeStdin } from '../stdin.ts';

export function loadCommand(): Command {
  return new Command('load')
    .description(
      'Store the events of NDJSON files. Good lines are kept; each bad one is told with its reason.',
    )
    .argument('<source>', 'name or UUID of the source, such as cloudflare.logs.prod')
    .argument('<files...>', 'NDJSON files, also .gz; - is standard input')
    .action(load);
}

interface Job {
  readonly config: Config;
  readonly store: Store;
  readonly source: Source;
  readonly signal: AbortSignal;
}

async function load(sourceName: string, files: string[]): Promise<void> {
  const config = readConfig();
  const sizes = checkFiles(files);
  const signal = stopSignal();
  const stdin = files.includes('-') ? takeStdin(signal) : undefined; // before the engine opens
  const store = await openStore(config, ownerName('load'));
  let rejected = 0;
  try {
    const source = store.registry.getSource(sourceName);
    for (const [i, file] of files.entries()) {
      const job = { config, store, source, signal };
      const done = await loadFile(job, { name: file, size: sizes[i] ?? 0, stream: open(file, stdin) });
      rejected += done.rejected;
      if (signal.aborted)
        throw new StoppedError(
          `stopped by ${signal.reason} after line ${done.line} of ${file}; what was read is stored`,
        );
    }
  } finally {
    await store.close();
  }
  // The reasons are on standard error already, a line each.
  if (rejected > 0) process.exitCode = 1;
}

function open(file: string, stdin: Readable | undefined): Readable {
  return file === '-' && stdin !== undefined ? stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
}

interface Input {
  readonly name: string;
  /** In bytes; 0 where nobody knows. */
  readonly size: number;
  readonly stream: Readable;
}

async function loadFile(
  { config, store, source, signal }: Job,
  { name: file, size, stream: raw }: Input,
): Promise<LoadProgress> {
  const stream: Readable = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  raw.on('error', (error: Error) => stream.destroy(error)); // pipe() does not pass it on
  signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const progress = createProgress(file, size);
  const rate = createRate();
  const note = (now: LoadProgress) =>
    `${count(now.stored)} events, ${rate(now.stored)}, ${count(now.rejected)} rejected`;
  let last: LoadProgress | undefined;
  try {
    const done = await loadEvents(store.engine, source, stream, {
      eventBytesMax: config.eventBytesMax,
      now: Date.now,
      signal,
      onRejected: (line, reason) => progress.log(`${file}:${line}: ${reason}`),
      onProgress(now) {
        last = now;
        progress.update(raw instanceof ReadStream ? raw.bytesRead : now.bytesRead, note(now));
      },
    });
    progress.update(size, note(done));
    progress.stop();
    process.stdout.write(`${file}: ${note(done)}\n`);
    return done;
  } catch (error) {
    progress.stop();
    const { code } = error as { code?: string };
    const why = code?.startsWith('Z_') ? 'is not whole gzip' : 'cannot be read';
    if (error instanceof InputError || (raw.errored !== error && stream.errored !== error)) throw error;
    const { line = 0, stored = 0 } = last ?? {};
    throw new InputError([
      `${file}: ${why} (${messageOf(error)}); it was read up to line ${line}, ${count(stored)} events are stored`,
    ]);
  }
}

/** Sizes in bytes; all files are looked at before the first is read. */
function checkFiles(files: readonly string[]): number[] {
  const faults: string[] = [];
  const sizes = files.map((file) => {
    if (file === '-') return 0;
    try {
      const info = statSync(file);
      if (!info.isDirectory()) return info.size;
      faults.push(`${file}: is a folder; name its files`);
    } catch (error) {
      faults.push(`${file}: cannot be read: ${messageOf(error)}`);
    }
    return 0;
  });
  if (faults.length > 0) throw new InputError(faults);
  return sizes;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
