import { Command } from 'commander';
import { InputError, StoppedError } from '../../errors.ts';
import { createFilterCounts } from '../../ingest/filter/filter.ts';
import { type LoadProgress, loadEvents } from '../../ingest/load.ts';
import { describeFiltered } from '../dry-run.ts';
import { readConfig, stopSignal } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCount, formatCounted } from '../format.ts';
import { BULK_FORMATS } from '../load/input.ts';
import { parseMapping } from '../load/mapping.ts';
import { createInputs, type OpenInput } from '../load/open-input.ts';
import { openResume, type Resume } from '../load/resume.ts';
import { openTarget, type Reject, type Target, type TargetOptions } from '../load/target.ts';
import { collect } from '../options.ts';
import { createProgress, createRate } from '../progress.ts';
import { addRemoteOptions } from '../remote.ts';

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'Store the events of NDJSON, Parquet, CSV or TSV files, also from HTTP and S3; bad lines are reported.',
    )
    .argument('<source>', 'name or UUID of the source, such as cloudflare.logs.prod')
    .argument(
      '<files...>',
      'files, plain, .gz or .zst; http://, https:// or s3:// addresses; - is standard input',
    )
    .option('--format <format>', `${Object.keys(BULK_FORMATS).join(', ')} (default: by the name)`)
    .option('--map <field=column>', 'column of a field of the events; repeatable', collect)
    .option('--resume <file>', 'remember in this file how far each input is stored, and go on from there')
    .option('--dry-run', 'store nothing; say what the rules of the source would leave out or change');
  const about = 'send the events to this service';
  return addRemoteOptions(command, about, 'ingest').action(load);
}

interface LoadCommandOptions extends TargetOptions {
  readonly format?: string;
  readonly map?: readonly string[];
  readonly resume?: string;
}

interface Job {
  readonly target: Target;
  readonly signal: AbortSignal;
  readonly resume: Resume | undefined;
}

// Longest wait of an event of standard input.
const COMMIT_EVERY_MS = 1_000;

async function load(sourceName: string, files: string[], options: LoadCommandOptions): Promise<void> {
  const config = options.url === undefined && options.dryRun !== true ? readStoreConfig() : readConfig();
  const signal = stopSignal();
  const mapping = parseMapping(options.map ?? []);
  const inputs = createInputs(files, { format: options.format, mapping, signal });
  const resume = openResumeOf(sourceName, files, options);
  let withoutProject = 0;
  const onWithoutProject = (events: number) => {
    withoutProject += events;
  };
  const target = await openTarget(sourceName, options, { config, signal, onWithoutProject });
  let rejected = 0;
  try {
    for (const name of files) {
      const done = await loadFile({ target, signal, resume }, await inputs.open(name));
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

function openResumeOf(
  source: string,
  files: readonly string[],
  options: LoadCommandOptions,
): Resume | undefined {
  if (options.resume === undefined) return undefined;
  if (files.includes('-'))
    throw new InputError(['--resume needs files: standard input cannot be read again']);
  if (options.dryRun === true) throw new InputError(['--dry-run stores nothing; leave out --resume']);
  return openResume(options.resume, source);
}

async function loadFile(
  { target, signal, resume }: Job,
  input: OpenInput,
): Promise<LoadProgress & { rejected: number }> {
  const { name, total } = input;
  const progress = createProgress(name, total);
  const rate = createRate();
  const filtered = createFilterCounts();
  const begun = resume?.begin(name);
  if (begun !== undefined && begun.resume.after > 0)
    progress.log(`${name}: continues after line ${formatCount(begun.resume.after)}`);
  let rejected = 0;
  let repaired = 0;
  const onRejected: Reject = (line, reason) => {
    rejected++;
    progress.log(`${name}:${line}: ${reason}`);
  };
  const note = ({ stored }: LoadProgress) =>
    `${formatCounted(stored, 'event')}, ${rate(stored)}, ${formatCount(rejected)} rejected${describeFiltered(filtered)}`;
  let last: LoadProgress | undefined;
  const sink = target.createSink({ onRejected, progress, filtered, nextToken: begun?.nextToken });
  try {
    const done = await loadEvents(sink, input.lines, {
      ...(name === '-' && { commitEveryMs: COMMIT_EVERY_MS }),
      signal,
      resume: begun?.resume,
      onRepaired: () => repaired++,
      onProgress(now) {
        last = now;
        progress.update(input.done(now), note(now));
      },
    });
    progress.update(total, note(done));
    process.stdout.write(`${name}: ${note(done)}\n`);
    if (repaired > 0)
      process.stderr.write(
        `${name}: ${formatCounted(repaired, 'line')} with bytes that are not UTF-8, each stored as U+FFFD\n`,
      );
    return { ...done, rejected };
  } catch (error) {
    throw input.explain(error, last);
  } finally {
    progress.stop();
    await input.close();
  }
}
