import { createReadStream, ReadStream, statSync } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import { type LineSink, type LoadProgress, loadEvents } from '../../ingest/load.ts';
import { createRemoteSink } from '../../ingest/remote-sink.ts';
import { refuseExternal } from '../../ingest/source-name.ts';
import { createStoreSink } from '../../ingest/store-sink.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { formatCount, formatCounted } from '../format.ts';
import { createProgress, createRate, type Progress } from '../progress.ts';
import { addRemoteOptions, findRemote, type RemoteOptions } from '../remote.ts';

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'Store the events of NDJSON files. Bad lines are reported, with the reason; all others are stored.',
    )
    .argument('<source>', 'name or UUID of the source, such as cloudflare.logs.prod')
    .argument('<files...>', 'NDJSON files, plain or .gz; - is standard input');
  const about = 'send the events to a running service instead of opening the store';
  return addRemoteOptions(command, about, 'ingest').action(load);
}

type Reject = (line: number, reason: string) => void;

/** The target of the events. */
interface Target {
  createSink(onRejected: Reject, progress: Progress): LineSink;
  close(): Promise<void>;
}

interface Job {
  readonly target: Target;
  readonly config: Config;
  readonly signal: AbortSignal;
}

interface Input {
  readonly name: string;
  /** In bytes; 0 if unknown. */
  readonly size: number;
  readonly stream: Readable;
}

// Longest wait of an event of standard input.
const COMMIT_EVERY_MS = 1_000;

async function load(sourceName: string, files: string[], options: RemoteOptions): Promise<void> {
  const config = readConfig();
  const sizes = checkFiles(files);
  const signal = stopSignal();
  const stdin = files.includes('-') ? openStdin(signal) : undefined;
  let withoutProject = 0;
  const onWithoutProject = (events: number) => {
    withoutProject += events;
  };
  const target = await openTarget(sourceName, options, { config, signal, onWithoutProject });
  let rejected = 0;
  try {
    for (const [i, name] of files.entries()) {
      const input = { name, size: sizes[i] ?? 0, stream: open(name, stdin) };
      const done = await loadFile({ target, config, signal }, input);
      rejected += done.rejected;
      if (signal.aborted) {
        const where = `after line ${done.line} of ${name}`;
        throw new StoppedError(`stopped by ${signal.reason} ${where}; what was read is stored`);
      }
    }
  } finally {
    await target.close();
    if (withoutProject > 0)
      process.stderr.write(
        `tailrace: ${formatCounted(withoutProject, 'event')} stored without a project: no key that pins a project can read them; name it in the event or in TAILRACE_DEFAULT_PROJECT\n`,
      );
  }
  // The reasons are on standard error already, a line each.
  if (rejected > 0) process.exitCode = 1;
}

/** Checks all files before the first is read; returns their sizes in bytes. */
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

function open(file: string, stdin: Readable | undefined): Readable {
  return file === '-' && stdin !== undefined ? stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
}

async function openTarget(
  source: string,
  options: RemoteOptions,
  { config, signal, onWithoutProject }: Omit<Job, 'target'> & { onWithoutProject: (events: number) => void },
): Promise<Target> {
  const { defaultProject: project, eventBytesMax } = config;
  const remote = findRemote(options);
  if (remote !== undefined) {
    const sleep = async (ms: number) => void (await wait(ms, undefined, { signal }));
    return {
      createSink: (onRejected, progress) =>
        createRemoteSink({
          ...{ ...remote, source, project, onRejected, onWithoutProject, wait: sleep },
          onRetry: (reason, ms) =>
            progress.log(`${remote.url}: ${reason}; trying again in ${Math.ceil(ms / 1000)} s`),
        }),
      close: async () => {},
    };
  }
  const core = await openCore(config, ownerName('load'));
  try {
    const found = refuseExternal(core.registry.getSource(source));
    const rules = { project, eventBytesMax, now: Date.now, onWithoutProject: () => onWithoutProject(1) };
    return {
      createSink: (onRejected) => createStoreSink(core.engine, found, { ...rules, onRejected }),
      close: core.close,
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

async function loadFile(
  { target, config, signal }: Job,
  input: Input,
): Promise<LoadProgress & { rejected: number }> {
  const { name, size, stream: raw } = input;
  const stream: Readable = name.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  raw.on('error', (error: Error) => stream.destroy(error)); // pipe() does not forward errors
  signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const progress = createProgress(name, size);
  const rate = createRate();
  let rejected = 0;
  let repaired = 0;
  const onRejected: Reject = (line, reason) => {
    rejected++;
    progress.log(`${name}:${line}: ${reason}`);
  };
  const note = ({ stored }: LoadProgress) =>
    `${formatCounted(stored, 'event')}, ${rate(stored)}, ${formatCount(rejected)} rejected`;
  let last: LoadProgress | undefined;
  try {
    const done = await loadEvents(target.createSink(onRejected, progress), stream, {
      lineBytesMax: config.eventBytesMax,
      ...(name === '-' && { commitEveryMs: COMMIT_EVERY_MS }),
      signal,
      onRejected,
      onRepaired: () => repaired++,
      onProgress(now) {
        last = now;
        progress.update(raw instanceof ReadStream ? raw.bytesRead : now.bytesRead, note(now));
      },
    });
    progress.update(size, note(done));
    process.stdout.write(`${name}: ${note(done)}\n`);
    if (repaired > 0)
      process.stderr.write(
        `${name}: ${formatCounted(repaired, 'line')} with bytes that are not UTF-8, each stored as U+FFFD\n`,
      );
    return { ...done, rejected };
  } catch (error) {
    const isInput = raw.errored === error || stream.errored === error;
    throw isInput && !(error instanceof InputError) ? unreadable(error, name, last) : error;
  } finally {
    progress.stop();
  }
}

function unreadable(error: unknown, name: string, last: LoadProgress | undefined): InputError {
  const { code } = error as { code?: string };
  const why = code?.startsWith('Z_') ? 'is not whole gzip' : 'cannot be read';
  const { line = 0, stored = 0 } = last ?? {};
  const far = `it was read up to line ${line}, ${formatCounted(stored, 'event')} stored`;
  return new InputError([`${name}: ${why} (${messageOf(error)}); ${far}`]);
}
