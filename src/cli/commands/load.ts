import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { getSource } from '../../definitions/registry.ts';
import { InputError, rejectFaults, StoppedError } from '../../errors.ts';
import { createBatcher } from '../../ingest/batcher.ts';
import { type Event, parseEvent } from '../../ingest/event.ts';
import { FILTER_RULES, findFilter, verifyFilters } from '../../ingest/filter/filter.ts';
import { RejectedEvent } from '../../ingest/read-event.ts';
import { rejectUnwritable } from '../../ingest/source-name.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { stopSignal } from '../environment.ts';
import { createProgress, createRate, formatCount, formatCounted } from '../format.ts';
import { checkFiles, type FileLine, openInput, readLines } from '../load/lines.ts';
import {
  BATCH_LINES_MAX,
  createCounts,
  createSender,
  type LineSink,
  type LoadCounts,
  type SenderOptions,
} from '../load/send.ts';
import { findService, findStore } from '../local-service.ts';
import { addRemoteOptions, type Remote, type RemoteOptions } from '../remote.ts';

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'Send the events of NDJSON files to the service that runs in this folder; bad lines are reported.',
    )
    .argument('<source>', 'name or UUID of the source, such as cloudflare.logs.prod')
    .argument('<files...>', 'files of an event a line, plain, .gz or .zst; - is standard input')
    .option('--dry-run', 'store nothing; say what the rules of the source would leave out or change');
  return addRemoteOptions(command, 'send them to this service instead', 'ingest').action(load);
}

interface LoadOptions extends RemoteOptions {
  readonly dryRun?: boolean;
}

async function load(source: string, files: string[], options: LoadOptions): Promise<void> {
  const { dryRun = false } = options;
  if (dryRun && options.url !== undefined)
    throw new InputError(['--dry-run reads the definitions of this machine; leave out --url']);
  const config = findStore();
  const signal = stopSignal();
  const sizes = checkFiles(files);
  const service = dryRun ? undefined : await findService(options, config);
  const all: LoadCounts[] = [];
  const total = (name: 'rejected' | 'withoutProject') => all.reduce((sum, counts) => sum + counts[name], 0);
  try {
    for (const name of files) {
      const onRejected = (line: number, reason: string) => log(`${name}:${line}: ${reason}`);
      const sink =
        service === undefined
          ? await openDryRun(source, { config, onRejected })
          : openSender(service, { source, project: config.defaultProject, onRejected, signal });
      all.push(sink.counts);
      const line = await loadFile({ name, sizeBytes: sizes.get(name) ?? 0 }, sink, signal);
      if (signal.aborted)
        throw new StoppedError(
          `stopped by ${signal.reason} after line ${line} of ${name}; what was read is stored`,
        );
    }
  } finally {
    const withoutProject = total('withoutProject');
    if (withoutProject > 0)
      log(
        `tailrace: ${formatCounted(withoutProject, 'event')} stored without a project: no key that ` +
          'pins a project can read them; name it in the event or in TAILRACE_DEFAULT_PROJECT',
      );
  }
  // The reasons are on standard error already, a line each.
  if (total('rejected') > 0) process.exitCode = 1;
}

interface InputFile {
  /** `-`: standard input. */
  readonly name: string;
  /** 0 if unknown. */
  readonly sizeBytes: number;
}

// Longest wait of an event of standard input. Events of a file wait for a full batch.
const COMMIT_EVERY_MS = 1_000;
const PROGRESS_LINES = 2_000;
const BATCH_CHARS_MAX = 1024 * 1024;

/**
 * Passes the lines of a file to a sink, until `signal` aborts.
 *
 * @returns the number of the last line that was read
 * @throws InputError for the file, or the error of the sink; lines that were read before are stored if the sink can
 */
async function loadFile(
  { name, sizeBytes }: InputFile,
  sink: LineSink,
  signal: AbortSignal,
): Promise<number> {
  const { bytes, bytesRead, explain } = openInput(name, signal);
  const { counts, send } = sink;
  const batcher = createBatcher({ itemsMax: BATCH_LINES_MAX, charsMax: BATCH_CHARS_MAX, send });
  const progress = createProgress(name, sizeBytes);
  const rate = createRate();
  const note = () => describeCounts(counts, rate);
  let last = 0;
  let repaired = 0;
  let failure: unknown;
  // Standard input may be idle for hours: a failure ends it at once, and `flush` below rejects with it again.
  const commit = () => void batcher.flush().catch(() => bytes.destroy());
  const commits = name === '-' ? setInterval(commit, COMMIT_EVERY_MS) : undefined;
  try {
    for await (const line of readLines(bytes)) {
      if (signal.aborted) break;
      last = line.number;
      if (line.isRepaired === true) repaired++;
      await batcher.add(line, line.text.length);
      if (last % PROGRESS_LINES === 0) progress(bytesRead(), note());
    }
  } catch (error) {
    failure = error;
  }
  clearInterval(commits);
  await batcher.flush();
  // An abort ends the bytes with an error, too, which is not reported.
  if (failure !== undefined && !signal.aborted) {
    if (bytes.errored !== failure) throw failure;
    const far = `it was read up to line ${last}, ${formatCounted(counts.stored, 'event')} stored`;
    throw new InputError([`${explain(failure)}; ${far}`], { cause: failure });
  }
  process.stdout.write(`${name}: ${note()}\n`);
  if (repaired > 0)
    log(`${name}: ${formatCounted(repaired, 'line')} with bytes that are not UTF-8, each stored as U+FFFD`);
  return last;
}

function describeCounts(
  { stored, rejected, filtered }: LoadCounts,
  rate: ReturnType<typeof createRate>,
): string {
  const applied = FILTER_RULES.filter((rule) => filtered[rule] > 0);
  const rules = applied.map((rule) => `, ${formatCount(filtered[rule])} by ${rule}`).join('');
  return `${formatCounted(stored, 'event')}, ${rate(stored)}, ${formatCount(rejected)} rejected${rules}`;
}

function openSender(
  service: Remote,
  { signal, ...options }: Pick<SenderOptions, 'source' | 'project' | 'onRejected'> & { signal: AbortSignal },
): LineSink {
  return createSender({
    ...service,
    ...options,
    wait: (ms) => wait(ms, undefined, { signal }),
    onRetry: (reason, ms) => log(`${service.url}: ${reason}; trying again in ${Math.ceil(ms / 1000)} s`),
  });
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

// Redacted events that are shown.
const SHOWN_MAX = 3;

interface DryRunOptions extends Pick<SenderOptions, 'onRejected'> {
  readonly config: Config;
}

/**
 * Creates a sink that only counts what would be stored, by the rules of a source. Opens no store, so that a service may
 * run beside.
 *
 * @throws InputError with all faults of the definitions
 */
async function openDryRun(name: string, { config, onRejected }: DryRunOptions): Promise<LineSink> {
  const { definitions, faults } = await readDefinitions(config);
  rejectFaults([...faults, ...(await verifyFilters(definitions.sources))]);
  const source = rejectUnwritable(getSource(definitions.sources, name));
  const { defaultProject: project } = config;
  const filter = findFilter(source);
  const counts = createCounts();

  function store(line: number, text: string): void {
    const parsed = parseEvent({ text }, source, { now: Date.now() * MICROS_PER_MS, project });
    const event = filter === undefined ? parsed : filter(parsed, counts.filtered);
    if (event === undefined) return;
    counts.stored++;
    if (event !== parsed && counts.filtered.redact <= SHOWN_MAX)
      log(`line ${line} would be ${describe(event)}`);
  }

  async function send(lines: readonly FileLine[]): Promise<void> {
    for (const line of lines) {
      try {
        if (line.fault !== undefined) throw new RejectedEvent(line.fault);
        store(line.number, line.text);
      } catch (error) {
        if (!(error instanceof RejectedEvent)) throw error;
        counts.rejected++;
        onRejected(line.number, error.message);
      }
    }
  }

  return { send, counts };
}

function describe({ message, metadata, attributes }: Event): string {
  return [JSON.stringify(message), metadata, attributes].filter((text) => text !== '').join(' ');
}
