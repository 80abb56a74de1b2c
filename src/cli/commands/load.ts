import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { stopSignal } from '../environment.ts';
import { formatCount, formatCounted } from '../format.ts';
import { BULK_FORMATS } from '../load/bulk.ts';
import { openDryRun } from '../load/dry-run.ts';
import { type LoadProgress, loadEvents, openResume, type Resume } from '../load/lines.ts';
import { parseMapping } from '../load/mapping.ts';
import { createInputs, type OpenInput } from '../load/open-input.ts';
import { createRemoteSink } from '../load/send.ts';
import { findService, findStore } from '../local-service.ts';
import { collect } from '../options.ts';
import { createProgress, createRate } from '../progress.ts';
import { addRemoteOptions, findRemote, type Remote, type RemoteOptions } from '../remote.ts';

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'Send the events of NDJSON, Parquet, CSV or TSV files, also from HTTP and S3, to the service ' +
        'that runs in this folder; bad lines are reported.',
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
  return addRemoteOptions(command, 'send them to this service instead', 'ingest').action(load);
}

interface LoadOptions extends RemoteOptions {
  readonly dryRun?: boolean;
  readonly format?: string;
  readonly map?: readonly string[];
  readonly resume?: string;
}

/** What all files of a load share. */
interface Load {
  readonly source: string;
  readonly config: Config;
  /** `undefined`: a dry run. */
  readonly service: Remote | undefined;
  readonly signal: AbortSignal;
  readonly resume: Resume | undefined;
  readonly onWithoutProject: (events: number) => void;
}

// Longest wait of an event of standard input.
const COMMIT_EVERY_MS = 1_000;

async function load(source: string, files: string[], options: LoadOptions): Promise<void> {
  if (options.dryRun === true && options.url !== undefined)
    throw new InputError(['--dry-run reads the definitions of this machine; leave out --url']);
  const { config } = findStore();
  const signal = stopSignal();
  const mapping = parseMapping(options.map ?? []);
  const inputs = createInputs(files, { format: options.format, mapping, signal });
  const resume = openResumeOf(source, files, options);
  const service = options.dryRun === true ? undefined : await findTarget(config, options);
  let withoutProject = 0;
  const onWithoutProject = (events: number) => {
    withoutProject += events;
  };
  let rejected = 0;
  try {
    for (const name of files) {
      const shared = { source, config, service, signal, resume, onWithoutProject };
      const done = await loadFile(shared, await inputs.open(name));
      rejected += done.rejected;
      if (signal.aborted) {
        const where = `after line ${done.line} of ${name}`;
        throw new StoppedError(`stopped by ${signal.reason} ${where}; what was read is stored`);
      }
    }
  } finally {
    if (withoutProject > 0)
      process.stderr.write(
        `tailrace: ${formatCounted(withoutProject, 'event')} stored without a project: no key that ` +
          `pins a project can read them; name it in the event or in TAILRACE_DEFAULT_PROJECT\n`,
      );
  }
  // The reasons are on standard error already, a line each.
  if (rejected > 0) process.exitCode = 1;
}

/** @throws InputError if there is no service, or no key for it */
async function findTarget(config: Config, options: RemoteOptions): Promise<Remote> {
  const found = findRemote(options) ?? (await findService(config, options));
  if (found !== undefined) return found;
  throw new InputError([
    `no service runs on data directory ${config.dataDir}: start one with "npx tailrace serve", or name it by --url`,
  ]);
}

function openResumeOf(source: string, files: readonly string[], options: LoadOptions): Resume | undefined {
  if (options.resume === undefined) return undefined;
  if (files.includes('-'))
    throw new InputError(['--resume needs files: standard input cannot be read again']);
  if (options.dryRun === true) throw new InputError(['--dry-run stores nothing; leave out --resume']);
  return openResume(options.resume, source);
}

async function loadFile(shared: Load, input: OpenInput): Promise<LoadProgress & { rejected: number }> {
  const { config, signal } = shared;
  const { name, total } = input;
  const progress = createProgress(name, total);
  const rate = createRate();
  const begun = shared.resume?.begin(name);
  if (begun !== undefined && begun.resume.after > 0)
    progress.log(`${name}: continues after line ${formatCount(begun.resume.after)}`);
  let rejected = 0;
  let repaired = 0;
  const onRejected = (line: number, reason: string) => {
    rejected++;
    progress.log(`${name}:${line}: ${reason}`);
  };
  const { service, source } = shared;
  const sink =
    service === undefined
      ? await openDryRun(source, { config, onRejected, log: progress.log })
      : createRemoteSink({
          ...{ ...service, source, project: config.defaultProject, onRejected, nextKey: begun?.nextToken },
          onWithoutProject: shared.onWithoutProject,
          wait: async (ms) => void (await wait(ms, undefined, { signal })),
          onRetry: (reason, ms) =>
            progress.log(`${service.url}: ${reason}; trying again in ${Math.ceil(ms / 1000)} s`),
        });
  const note = ({ stored }: LoadProgress) =>
    `${formatCounted(stored, 'event')}, ${rate(stored)}, ${formatCount(rejected)} ` +
    `rejected${sink.describeFiltered?.() ?? ''}`;
  let last: LoadProgress | undefined;
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
